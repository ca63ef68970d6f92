// SPDX-License-Identifier: GPL-3.0-or-later
// mark_load.c - the probes of one command in one module, brought into the target
/*
 *     guard | record, r-- | runtime, r-x | control, rw- | program and probes, r-x | data, rw- | guard
 *
 * The record is written last: what has none doesn't exist.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"
#include "base/log.h"
#include "proc/inject.h"
#include "tracing/marks_internal.h"

#define TRIES 5
#define CODE_ALIGN 16

/* A region while it is made. */
struct load {
	struct proc *proc;
	const struct mark_plan *plan;
	struct uspl_mark_region head;
	struct buf text;
	uint8_t *data;             /* of the user's program */
	struct uspl_probe *probes; /* one for each site */
};

/* A place of `width` bytes in the first slot that has room; a new slot if none has. */
static void place_value(struct uspl_probe_arg *arg, uint16_t *slots, uint8_t *used)
{
	uint16_t slot = 0;

	while (used[slot] + arg->width > USPL_MARK_SLOT_ROOM)
		slot++;
	arg->slot = slot;
	arg->offset = used[slot];
	used[slot] = (uint8_t)(used[slot] + arg->width);
	if (slot >= *slots)
		*slots = (uint16_t)(slot + 1);
}

/* Where the arguments lie in the record: values first, then the strings. */
static void lay_out(const struct marker *marker, uint16_t text_slots, struct uspl_probe *probe)
{
	uint8_t used[USPL_PROBE_ARGS_MAX + 1] = { USPL_MARK_FIRST_ROOM };
	uint16_t slots = 1;

	for (size_t i = 0; i < marker->n_args; i++) {
		struct uspl_probe_arg *arg = &probe->args[i];

		arg->kind = (uint8_t)marker->args[i].kind;
		if (arg->kind == USPL_PROBE_TEXT)
			continue;
		arg->width = marker->args[i].place.size == 8 ? 8 : 4;
		place_value(arg, &slots, used);
	}
	for (size_t i = 0; i < marker->n_args; i++) {
		struct uspl_probe_arg *arg = &probe->args[i];

		if (arg->kind != USPL_PROBE_TEXT)
			continue;
		arg->slot = slots;
		arg->slots = text_slots;
		slots = (uint16_t)(slots + text_slots);
	}
	probe->slots = slots;
	probe->n_args = (uint8_t)marker->n_args;
}

static int add_code(struct load *load, size_t i, const struct filter *filter, struct uspl_err *err)
{
	const struct marker *marker = load->plan->sites.items[i];
	struct uspl_probe *probe = &load->probes[i];
	struct probe_arg args[USPL_PROBE_ARGS_MAX];
	const struct mark_program *program = load->plan->request->program;
	struct probe_parts parts;
	struct probe_code code = {
		.runtime = load->head.code,
		.id = load->head.first_id + (uint32_t)i,
		.slots = probe->slots,
		.args = args,
		.tests = filter->tests.items,
		.n_args = marker->n_args,
		.n_tests = filter->tests.n,
		.program = program ? load->head.text + program->entry : 0,
		.name = marker->name,
		.keep_flags = marker->usdt,
		.site = marker->site,
		.old = marker->old,
		.old_len = marker->old_len,
		.before = marker->before,
		.skip = marker->skip,
	};
	int rc;

	for (size_t k = 0; k < marker->n_args; k++)
		args[k] = (struct probe_arg){ marker->args[k].place, probe->args[k].slot,
					      probe->args[k].offset, probe->args[k].width,
					      probe->args[k].slots };
	buf_align(&load->text, CODE_ALIGN);
	probe->thunk = code.at = load->head.text + load->text.len;
	rc = probe_encode(&code, &load->text, &parts, err);
	if (rc)
		return rc;
	probe->inner = parts.inner;
	probe->link = parts.link;
	probe->end = parts.end;
	return 0;
}

static int add_probe(struct load *load, size_t i, struct uspl_err *err)
{
	const struct marker *marker = load->plan->sites.items[i];
	struct uspl_probe *probe = &load->probes[i];
	struct filter filter = { 0 };
	int rc = 0;

	*probe = (struct uspl_probe){ .site = marker->site,
				      .semaphore = marker->semaphore,
				      .old_len = marker->old_len,
				      .guard = marker->guard };
	memcpy(probe->old_bytes, marker->old, marker->old_len);
	lay_out(marker, load->plan->request->text_slots, probe);
	if (load->plan->request->filter)
		rc = filter_parse(load->plan->request->filter, marker, &filter, err);
	if (!rc)
		rc = add_code(load, i, &filter, err);
	if (rc)
		uspl_context(err, "marker '%s'", marker->name);
	filter_release(&filter);
	return rc;
}

/* The user's program comes first. */
static int add_program(struct load *load, struct uspl_err *err)
{
	const struct mark_program *program = load->plan->request->program;

	if (!program)
		return 0;
	buf_addzero(&load->text, program->text_len);
	memset(load->data, 0, program->data_len);
	return load->text.oom ? uspl_fail_nomem(err)
			      : program->link(program, load->head.text, load->head.data,
					      (uint8_t *)load->text.data, load->data, err);
}

/* Makes the code for the addresses in the head. */
static int make_text(struct load *load, struct uspl_err *err)
{
	int rc;

	buf_release(&load->text);
	rc = add_program(load, err);
	for (size_t i = 0; !rc && i < load->plan->sites.n; i++)
		rc = add_probe(load, i, err);
	if (!rc && load->text.oom)
		rc = uspl_fail_nomem(err);
	load->head.text_len = load->text.len;
	return rc;
}

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
	head->switches = (uint32_t)(head->probes + n * sizeof(*load->probes));
	buf_addzero(info, head->switches);
	for (size_t i = 0; i < load->plan->switches.n; i++) {
		const struct marker_switch *from = load->plan->switches.items[i];
		struct uspl_mark_switch item = { from->site, from->on };

		buf_add(info, &item, sizeof(item));
	}
	head->module_name = add_text(info, load->plan->module->name);
	head->filter = add_text(info, load->plan->request->filter);
	for (size_t i = 0; i < n; i++) {
		load->probes[i].name = add_text(info, load->plan->sites.items[i]->name);
		load->probes[i].format = add_text(info, load->plan->sites.items[i]->format);
	}
	buf_align(info, TRACE_PAGE);
	if (info->oom)
		return uspl_fail_nomem(err);
	head->info_len = info->len;
	memcpy(info->data, head, sizeof(*head));
	memcpy(info->data + head->probes, load->probes, n * sizeof(*load->probes));
	return 0;
}

static void place(struct load *load, taddr map, uint64_t info_len, uint64_t text_len)
{
	struct uspl_mark_region *head = &load->head;

	head->map = map;
	head->self = map + TRACE_PAGE;
	head->code = head->self + info_len;
	head->text = head->code + USPL_TRACE_CONTROL + TRACE_PAGE;
	head->data = head->text + trace_pages(text_len);
	if (load->plan->request->program)
		head->data_len = trace_pages(load->plan->request->program->data_len);
	head->map_len = head->data + head->data_len + TRACE_PAGE - map;
}

static int map_all(struct load *load, bool *ret_taken, struct uspl_err *err)
{
	const struct uspl_mark_region *head = &load->head;
	struct inject_req reqs[] = {
		inject_mmap(head->map, head->map_len, PROT_NONE,
			    MAP_PRIVATE | MAP_FIXED_NOREPLACE | MAP_NORESERVE),
		inject_mmap(head->self, head->info_len, PROT_READ, MAP_PRIVATE | MAP_FIXED),
		inject_mmap(head->code, USPL_TRACE_CONTROL, PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_FIXED),
		inject_mmap(head->code + USPL_TRACE_CONTROL, TRACE_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_FIXED),
		inject_mmap(head->text, trace_pages(head->text_len), PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_FIXED),
		inject_mmap(head->data, head->data_len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_FIXED),
	};
	struct inject_req take_back = inject_syscall(SYS_munmap, head->map, head->map_len, 0);
	size_t done, n = ARRAY_SIZE(reqs) - !head->data_len;
	int rc = inject_run(load->proc, reqs, n, &done, err);

	if (rc)
		return rc;
	*ret_taken = reqs[0].result == -EEXIST;
	if (*ret_taken ||
	    (done == n && (taddr)reqs[n - 1].result == (head->data_len ? head->data : head->text)))
		return 0;
	errno = (int)-reqs[done - 1].result;
	rc = uspl_fail_errno(err, "cannot map the code of probes in pid %d", load->proc->pid);
	if (done > 1 && inject_run(load->proc, &take_back, 1, &done, NULL) != 0)
		log_info("mark", "memory stays mapped in pid %d", load->proc->pid);
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
	rc = make_text(load, err);
	if (!rc)
		rc = make_info(load, info, err);
	info_len = info->len;
	text_len = load->text.len;
	for (int i = 0; !rc && taken && i < TRIES; i++) {
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
		rc = make_text(load, err);
		if (!rc)
			rc = make_info(load, info, err);
		if (!rc && (load->text.len != text_len || info->len != info_len))
			rc = uspl_fail(err, USPL_E_BUG, "a probe changes its length");
		if (!rc)
			rc = map_all(load, &taken, err);
		if (!rc)
			rc = proc_refresh_maps(load->proc, err);
	}
	if (!rc && taken)
		rc = uspl_fail(err, USPL_E_OUT_OF_REACH, "every place near '%s' is taken",
			       module->name);
	return rc;
}

static int write_all(struct load *load, const struct buf *info, struct uspl_err *err)
{
	const struct uspl_mark_region *head = &load->head;
	struct uspl_trace_control control;
	size_t code_len;
	const uint8_t *code = arch_native()->trace_runtime(&code_len);
	const tid_vec all = { 0 };
	int rc = proc_write(load->proc, head->code, code, code_len, err);

	share_control(load->proc, &head->shared, &control);
	if (!rc)
		rc = places_find(load->proc, &all, &control, err);
	if (!rc)
		rc = proc_write(load->proc, head->code + USPL_TRACE_CONTROL, &control,
				sizeof(control), err);
	if (!rc)
		rc = proc_write(load->proc, head->text, load->text.data, load->text.len, err);
	if (!rc && head->data_len)
		rc = proc_write(load->proc, head->data, load->data,
				load->plan->request->program->data_len, err);
	return rc ? rc : proc_write(load->proc, head->self, info->data, info->len, err);
}

int mark_load(struct proc *proc, const struct mark_plan *plan, uint32_t first_id,
	      const struct uspl_trace_region *shared, struct mark_region *ret, struct uspl_err *err)
{
	auto_free struct uspl_probe *probes = calloc(plan->sites.n, sizeof(*probes));
	const struct mark_program *program = plan->request->program;
	auto_free uint8_t *data = calloc(1, program ? program->data_len + 1 : 1);
	struct load load = { .proc = proc, .plan = plan, .probes = probes, .data = data };
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
	if (!rc) {
		region.head = load.head;
		rc = write_all(&load, &info, err);
		if (rc)
			mark_unload(proc, &region);
	}
	for (size_t i = 0; !rc && i < plan->sites.n; i++) {
		struct uspl_probe *probe = vec_push(&region.probes);

		if (probe)
			*probe = probes[i];
		else
			rc = uspl_fail_nomem(err);
	}
	buf_release(&load.text);
	if (rc)
		mark_region_release(&region);
	else
		*ret = region;
	return rc;
}

void mark_unload(struct proc *proc, const struct mark_region *region)
{
	struct inject_req req =
		inject_syscall(SYS_munmap, region->head.map, region->head.map_len, 0);
	struct uspl_err err = { 0 };
	size_t done;

	if (inject_run(proc, &req, 1, &done, &err))
		log_info("mark", "probes of pid %d stay mapped: %s", proc->pid, err.msg);
}
