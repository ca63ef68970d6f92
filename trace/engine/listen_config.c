// SPDX-License-Identifier: GPL-3.0-or-later
// listen_config.c - what listeners are to do, brought into the target; and read from there

#include "trace/engine/listen_config.h"

#include <string.h>

#include "trace/engine/block.h"
#include "trace/engine/clocks.h"
#include "trace/engine/listen_plan.h"
#include "trace/engine/session.h"
#include "trace/engine/share.h"

#define DESK_MAX (64u << 20)

void listen_plan_release(struct listen_plan *plan)
{
	vec_release(&plan->sites);
	buf_release(&plan->texts);
}

uint32_t listen_add_text(struct listen_plan *plan, const char *text)
{
	uint32_t offset;

	if (!text)
		return 0;
	if (!plan->texts.len)
		buf_addzero(&plan->texts, 1);
	offset = (uint32_t)plan->texts.len;
	buf_add(&plan->texts, text, strlen(text) + 1);
	return offset;
}

/* What stands before the job's own. */
static int lay_out(const struct trace_request *request, const struct trace_session *session,
		   struct buf *out, struct uspl_err *err)
{
	const struct listen_plan *plan = request->listen;
	const struct trace_region *region, *first = session->regions.items;
	const struct uspl_listen_site *site;
	struct uspl_desk desk = {
		.magic = USPL_DESK_MAGIC,
		.version = USPL_DESK_VERSION,
		.job = plan->job,
		.n_sites = (uint32_t)plan->sites.n,
		.by_id = sizeof(desk),
		.thread_len = trace_pages(plan->thread_len),
		.start_ticks = first->head.start_ticks,
		.entries = first->head.entries,
		.threshold = plan->no_calls             ? UINT64_MAX
			     : request->threshold_s > 0 ? clocks_ticks(request->threshold_s)
							: 0,
		.halted = plan->halted,
	};
	uint16_t *by_id;

	vec_for_each (&session->regions, region) {
		desk.n_ids = region->head.first_id + region->head.n_sites - 1;
		desk.controls[desk.n_controls++] = region->head.code + USPL_TRACE_CONTROL;
	}
	buf_addzero(out, sizeof(desk) + (desk.n_ids + 1) * sizeof(*by_id));
	buf_align(out, sizeof(uint64_t));
	desk.sites = (uint32_t)out->len;
	buf_add(out, plan->sites.items, plan->sites.n * sizeof(*site));
	desk.texts = (uint32_t)out->len;
	desk.texts_len = (uint32_t)plan->texts.len;
	buf_add(out, plan->texts.data, plan->texts.len);
	buf_align(out, PAGE);
	if (out->oom || plan->texts.oom)
		return uspl_fail_nomem(err);
	desk.own = out->len;
	desk.own_len = trace_pages(plan->own_len);
	desk.len = desk.own + desk.own_len + plan->leaves_len;
	memcpy(out->data, &desk, sizeof(desk));
	by_id = (uint16_t *)(out->data + desk.by_id);
	vec_for_each (&plan->sites, site)
		by_id[site->id] = (uint16_t)(site - plan->sites.items + 1);
	return 0;
}

/* Tells the parts where the desk is. */
static int note(struct proc *proc, const struct listen_plan *plan, struct trace_session *session,
		struct uspl_err *err)
{
	struct trace_region *region;
	int rc = 0;

	vec_for_each (&session->regions, region)
		if (!rc) {
			region->head.job = plan->job;
			rc = proc_write(proc, region->head.self, &region->head,
					sizeof(region->head), err);
		}
	return rc;
}

static int map(struct proc *proc, struct trace_session *session, uint64_t len, struct uspl_err *err)
{
	struct block block = { .own_len = trace_pages(len) };
	struct trace_region *region;
	int rc = block_map(proc, &block, err);

	if (rc)
		return rc;
	vec_for_each (&session->regions, region) {
		region->head.desk = block.own;
		region->head.desk_len = len;
	}
	return 0;
}

int desk_open(struct proc *proc, const struct trace_request *request, struct trace_session *session,
	      struct uspl_err *err)
{
	const struct listen_plan *plan = request->listen;
	auto_buf struct buf out = { 0 };
	const struct uspl_desk *desk;
	struct uspl_alloc *own;
	int rc = lay_out(request, session, &out, err);

	if (rc)
		return rc;
	desk = (const struct uspl_desk *)out.data;
	rc = map(proc, session, desk->len, err);
	if (!rc)
		rc = proc_write(proc, session->regions.items[0].head.desk, out.data, out.len, err);
	if (!rc && plan->leaves_len) {
		taddr at = session->regions.items[0].head.desk + desk->own;
		taddr leaves = at + desk->own_len;

		rc = proc_write(proc, at + offsetof(__typeof__(*own), leaves), &leaves,
				sizeof(leaves), err);
	}
	return rc ? rc : note(proc, plan, session, err);
}

int desk_close(struct proc *proc, const struct uspl_trace_region *head, struct uspl_err *err)
{
	return head->desk ? block_unmap(proc, head->desk, err) : 0;
}

/* Everything that the desk refers to lies on it. */
static bool is_sound(const struct uspl_trace_region *head, const struct uspl_desk *desk)
{
	uint64_t ids_end = desk->by_id + 2 * ((uint64_t)desk->n_ids + 1);
	uint64_t sites_end =
		desk->sites + (uint64_t)desk->n_sites * sizeof(struct uspl_listen_site);
	uint64_t texts_end = (uint64_t)desk->texts + desk->texts_len;

	return desk->magic == USPL_DESK_MAGIC && desk->version == USPL_DESK_VERSION &&
	       desk->len == head->desk_len && ids_end <= desk->sites && sites_end <= desk->texts &&
	       texts_end <= desk->own && desk->own <= DESK_MAX && desk->own <= desk->len &&
	       desk->own_len <= desk->len - desk->own && desk->thread_len < head->ring_bytes &&
	       desk->n_sites <= USPL_LISTEN_SITES_MAX;
}

static bool is_site_sound(const struct uspl_desk *desk, const struct uspl_listen_site *site)
{
	bool sound = site->n_args <= USPL_LISTEN_ARGS_MAX && site->result.name <= desk->texts_len &&
		     site->result.type <= desk->texts_len && site->id && site->id <= desk->n_ids;

	for (size_t i = 0; sound && i < site->n_args; i++)
		sound = site->args[i].name <= desk->texts_len &&
			site->args[i].type <= desk->texts_len;
	return sound;
}

static int read_parts(const struct proc *proc, taddr at, struct listen_desk *desk,
		      struct uspl_err *err)
{
	const struct uspl_desk *head = &desk->head;
	int rc = 0;

	for (uint32_t i = 0; i < head->n_sites; i++)
		if (!vec_push(&desk->sites))
			return uspl_fail_nomem(err);
	desk->texts = calloc(1, head->texts_len + 1);
	if (!desk->texts)
		return uspl_fail_nomem(err);
	if (head->n_sites)
		rc = proc_read(proc, at + head->sites, desk->sites.items,
			       head->n_sites * sizeof(*desk->sites.items), err);
	if (!rc && head->texts_len)
		rc = proc_read(proc, at + head->texts, desk->texts, head->texts_len, err);
	for (size_t i = 0; !rc && i < desk->sites.n; i++)
		if (!is_site_sound(head, &desk->sites.items[i]))
			rc = uspl_fail(err, USPL_E_HOSTILE, "what pid %d is listened to is damaged",
				       proc->pid);
	return rc;
}

int listen_desk_read(const struct proc *proc, const struct trace_session *session,
		     struct listen_desk *ret, struct uspl_err *err)
{
	const struct uspl_trace_region *head =
		session->regions.n ? &session->regions.items[0].head : NULL;
	struct listen_desk desk = { 0 };
	int rc;

	if (!head || !head->desk) {
		*ret = desk;
		return 0;
	}
	rc = proc_read(proc, head->desk, &desk.head, sizeof(desk.head), err);
	if (!rc && !is_sound(head, &desk.head))
		rc = uspl_fail(err, USPL_E_HOSTILE, "what pid %d is listened to is damaged",
			       proc->pid);
	if (!rc)
		rc = read_parts(proc, head->desk, &desk, err);
	if (rc)
		listen_desk_release(&desk);
	else
		*ret = desk;
	return rc;
}

void listen_desk_release(struct listen_desk *desk)
{
	vec_release(&desk->sites);
	free(desk->texts);
	desk->texts = NULL;
}

const struct uspl_listen_site *listen_desk_site(const struct listen_desk *desk, uint32_t id)
{
	const struct uspl_listen_site *site;

	vec_for_each (&desk->sites, site)
		if (site->id == id)
			return site;
	return NULL;
}

const char *listen_desk_text(const struct listen_desk *desk, uint32_t offset)
{
	return desk->texts ? desk->texts + offset : "";
}

taddr listen_desk_own(const struct trace_session *session, const struct listen_desk *desk)
{
	return session->regions.items[0].head.desk + desk->head.own;
}

taddr listen_desk_thread(const struct trace_session *session, const struct listen_desk *desk,
			 size_t i)
{
	const struct uspl_trace_region *head = &session->regions.items[0].head;

	return head->rings + (i + 1) * head->ring_bytes - desk->head.thread_len;
}

int listen_desk_threads(const struct proc *proc, const struct trace_session *session, size_t *ret,
			struct uspl_err *err)
{
	const struct uspl_trace_region *head = &session->regions.items[0].head;
	struct uspl_trace_counters counters;
	int rc = proc_read(proc, head->counters, &counters, sizeof(counters), err);

	if (!rc)
		*ret = counters.next_ring < head->n_rings ? counters.next_ring : head->n_rings;
	return rc;
}
