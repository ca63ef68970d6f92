// SPDX-License-Identifier: GPL-3.0-or-later
// mark_load.c - the probes of one command in one module, brought into the target
/*
 *     guard | record, r-- | runtime, r-x | control, rw- | program and probes, r-x | frames, r-- |
 *     data, rw- | guard
 *
 * The record is written last: for the tools, probes without a record don't exist.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"
#include "base/log.h"
#include "inject/inject.h"
#include "inject/rlimits.h"
#include "record/partial_mapping.h"
#include "safety/frames.h"
#include "trace/engine/trace_module.h"
#include "trace/engine/trace_buffers.h"
#include "trace/engine/thread_offsets.h"
#include "trace/probe/mark_text.h"

#define TRIES 5

/* A region while it is made. */
struct load {
	struct proc *proc;
	const struct mark_plan *plan;
	struct uspl_mark_region head;
	struct mark_text made;
};

static void release(struct load *load)
{
	mark_text_release(&load->made);
}

DEFINE_AUTO_RELEASE(load, struct load, release)
#define auto_load __attribute__((cleanup(cleanup_load_)))

static uint32_t add_text(struct buf *info, const char *text)
{
	uint32_t offset = (uint32_t)info->len;

	if (!text)
		return 0;
	buf_add(info, text, strlen(text) + 1);
	return offset;
}

/* The whole record, padded to pages. Its length doesn't depend on addresses. */
static int make_info(struct load *load, struct buf *info, struct uspl_err *err)
{
	struct uspl_mark_region *head = &load->head;
	size_t n = load->plan->sites.n;

	head->n_probes = (uint32_t)n;
	head->n_switches = (uint32_t)load->plan->switches.n;
	head->probes = sizeof(*head);
	head->switches = (uint32_t)(head->probes + n * sizeof(*load->made.probes));
	buf_addzero(info, head->switches);
	for (size_t i = 0; i < load->plan->switches.n; i++) {
		const struct marker_switch *from = load->plan->switches.items[i];
		struct uspl_mark_switch item = { from->site, from->on };

		buf_add(info, &item, sizeof(item));
	}
	head->module_name = add_text(info, load->plan->module->name);
	head->filter = add_text(info, load->plan->request->filter);
	for (size_t i = 0; i < n; i++) {
		load->made.probes[i].name = add_text(info, load->plan->sites.items[i]->name);
		load->made.probes[i].format = add_text(info, load->plan->sites.items[i]->format);
	}
	buf_align(info, PAGE);
	if (info->oom)
		return uspl_fail_nomem(err);
	head->info_len = info->len;
	memcpy(info->data, head, sizeof(*head));
	memcpy(info->data + head->probes, load->made.probes, n * sizeof(*load->made.probes));
	return 0;
}

static void place(struct load *load, taddr map, uint64_t info_len, uint64_t text_len)
{
	struct uspl_mark_region *head = &load->head;

	head->map = map;
	head->self = map + PAGE;
	head->code = head->self + info_len;
	head->text = head->code + USPL_TRACE_CONTROL + PAGE;
	head->data = head->text + trace_pages(text_len);
	head->eh_frame = 0;
	if (load->plan->request->returns) {
		head->eh_frame = head->data;
		head->data += USPL_TRACE_FRAMES;
	}
	if (load->plan->request->program)
		head->data_len = trace_pages(load->plan->request->program->data_len);
	head->map_len = head->data + head->data_len + PAGE - map;
}

static int map_all(struct load *load, bool *ret_taken, struct uspl_err *err)
{
	const struct uspl_mark_region *head = &load->head;
	struct inject_req reqs[PARTIAL_MAPPING_REQS + 3] = {
		[PARTIAL_MAPPING_REQS] =
			inject_mmap(head->code, USPL_TRACE_CONTROL, PROT_READ | PROT_EXEC,
				    MAP_PRIVATE | MAP_FIXED),
		inject_mmap(head->text, trace_pages(head->text_len), PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_FIXED),
	};
	size_t done, n = ARRAY_SIZE(reqs) - 1;
	int rc;

	partial_mapping_begin(USPL_PARTIAL_MAGIC, head->map, head->map_len, head->self,
			      head->info_len, reqs);
	if (head->eh_frame)
		reqs[n++] = inject_mmap(head->eh_frame, USPL_TRACE_FRAMES, PROT_READ,
					MAP_PRIVATE | MAP_FIXED);
	/* The control page is written to only when all is mapped. */
	rc = inject_run_mapping(load->proc, head->code + USPL_TRACE_CONTROL, reqs, n, &done, err);
	if (rc)
		return rc;
	*ret_taken = reqs[0].result == -EEXIST;
	if (*ret_taken || (done == n && (taddr)reqs[n - 1].result == reqs[n - 1].args[0]))
		return 0;
	errno = (int)-reqs[done - 1].result;
	rc = uspl_fail_errno(err, "cannot map the code of probes in pid %d", load->proc->pid);
	rlimits_hint(load->proc, -reqs[done - 1].result, err);
	if (done > 1)
		trace_module_give_back(load->proc, head->map, head->map_len, "probes");
	return rc;
}

/* Finds a place, makes the code for it, and maps it. */
static int settle(struct load *load, struct buf *info, struct uspl_err *err)
{
	const struct module *module = load->plan->module;
	uint64_t info_len, text_len;
	bool taken = true;
	int rc;

	/* Once for the lengths, which don't depend on the place. */
	place(load, module->start, 0, 0);
	rc = mark_text_make(&load->made, err);
	if (rc)
		return rc;
	rc = make_info(load, info, err);
	if (rc)
		return rc;
	info_len = info->len;
	text_len = load->made.text.len;
	for (int i = 0; taken && i < TRIES; i++) {
		taddr map;

		place(load, module->start, info_len, text_len);
		map = mappings_find_hole(&load->proc->maps, module->start, module->end,
					 load->head.map_len, arch_native()->reach);
		if (!map)
			return uspl_fail(err, USPL_E_OUT_OF_REACH,
					 "there is no room for %" PRIu64
					 " bytes near '%s' in pid %d",
					 load->head.map_len, module->name, load->proc->pid);
		place(load, map, info_len, text_len);
		buf_release(info);
		rc = mark_text_make(&load->made, err);
		if (rc)
			return rc;
		rc = make_info(load, info, err);
		if (rc)
			return rc;
		if (load->made.text.len != text_len || info->len != info_len)
			return uspl_fail(err, USPL_E_BUG, "a probe changes its length");
		rc = map_all(load, &taken, err);
		if (rc)
			return rc;
		rc = proc_refresh_maps(load->proc, err);
		if (rc)
			return rc;
	}
	if (taken)
		return uspl_fail(err, USPL_E_OUT_OF_REACH, "every place near '%s' is taken",
				 module->name);
	return 0;
}

static int write_all(struct load *load, const struct buf *info, struct uspl_err *err)
{
	const struct uspl_mark_region *head = &load->head;
	struct uspl_trace_control control;
	size_t code_len;
	const uint8_t *code = arch_native()->trace_runtime(&code_len);
	const tid_vec all = { 0 };
	int rc = proc_write(load->proc, head->code, code, code_len, err);

	trace_buffers_control(load->proc, &head->shared, &control);
	control.exit = USPL_MARK_EXIT + mark_shadow_number(head);
	if (rc)
		return rc;
	rc = thread_offsets_find(load->proc, &all, &control, err);
	if (rc)
		return rc;
	rc = proc_write(load->proc, head->code + USPL_TRACE_CONTROL, &control, sizeof(control),
			err);
	if (rc)
		return rc;
	rc = proc_write(load->proc, head->text, load->made.text.data, load->made.text.len, err);
	if (rc)
		return rc;
	if (head->eh_frame) {
		rc = proc_write(load->proc, head->eh_frame, load->made.frames.data,
				load->made.frames.len, err);
		if (rc)
			return rc;
	}
	if (head->data_len) {
		rc = proc_write(load->proc, head->data, load->made.data,
				load->plan->request->program->data_len, err);
		if (rc)
			return rc;
	}
	return proc_write(load->proc, head->self, info->data, info->len, err);
}

int mark_load(struct proc *proc, const struct mark_plan *plan, uint32_t first_id,
	      const struct uspl_trace_region *shared, struct mark_region *ret, struct uspl_err *err)
{
	auto_free struct uspl_probe *probes = calloc(plan->sites.n, sizeof(*probes));
	const struct mark_program *program = plan->request->program;
	auto_free uint8_t *data = calloc(1, program ? program->data_len + 1 : 1);
	auto_load struct load load = {
		.proc = proc,
		.plan = plan,
		.made = { .plan = plan, .head = &load.head, .probes = probes, .data = data }
	};
	auto_buf struct buf info = { 0 };
	struct mark_region region = { 0 };
	int rc;

	if (!probes || !data)
		return uspl_fail_nomem(err);
	load.head.magic = USPL_MARK_MAGIC;
	load.head.version = USPL_MARK_VERSION;
	load.head.module = plan->module->start;
	load.head.first_id = first_id;
	load.head.shared = *shared;
	snprintf(load.head.session, sizeof(load.head.session), "%s", plan->request->session);
	rc = settle(&load, &info, err);
	if (rc)
		return rc;
	region.head = load.head;
	rc = write_all(&load, &info, err);
	if (rc) {
		trace_module_give_back(proc, region.head.map, region.head.map_len, "probes");
		return rc;
	}
	for (size_t i = 0; i < plan->sites.n; i++) {
		struct uspl_probe *probe = vec_push(&region.probes);

		if (!probe) {
			mark_region_release(&region);
			return uspl_fail_nomem(err);
		}
		*probe = probes[i];
	}
	*ret = region;
	return 0;
}

static struct frames frames_of(const struct mark_region *region)
{
	return (struct frames){ .section = region->head.eh_frame,
				.noted = region->head.self +
					 offsetof(struct uspl_mark_region, frames) };
}

int mark_tell_unwinder(struct proc *proc, const module_vec *modules,
		       const struct mark_region *region, struct uspl_err *err)
{
	const struct frames frames = frames_of(region);
	bool told;

	return frames.section
		       ? frames_register(proc, modules, &frames, FRAMES_IF_UNWOUND, &told, err)
		       : 0;
}

int mark_unload(struct proc *proc, const module_vec *modules, const struct mark_region *region,
		struct uspl_err *err)
{
	const struct frames frames = frames_of(region);
	int rc = frames.section ? frames_forget(proc, modules, &frames, err) : 0;

	if (rc)
		return rc;
	return inject_unmap(proc, region->head.map, region->head.map_len, err);
}
