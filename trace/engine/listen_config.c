// SPDX-License-Identifier: GPL-3.0-or-later
// listen_config.c - what listeners are to do, brought into the target; and read from there

#include "trace/engine/listen_config.h"

#include <string.h>

#include "trace/engine/shared_map.h"
#include "trace/engine/clocks.h"
#include "trace/engine/listen_plan.h"
#include "trace/engine/session.h"
#include "trace/engine/sums.h"
#include "trace/engine/trace_buffers.h"

#define LISTEN_CONFIG_MAX (64u << 20)

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
	struct uspl_listen_config config = {
		.magic = USPL_LISTEN_CONFIG_MAGIC,
		.version = USPL_LISTEN_CONFIG_VERSION,
		.job = plan->job,
		.n_sites = (uint32_t)plan->sites.n,
		.by_id = sizeof(config),
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
		config.n_ids = region->head.first_id + region->head.n_sites - 1;
		config.controls[config.n_controls++] = region->head.code + USPL_TRACE_CONTROL;
	}
	buf_addzero(out, sizeof(config) + (config.n_ids + 1) * sizeof(*by_id));
	buf_align(out, sizeof(uint64_t));
	config.sites = (uint32_t)out->len;
	buf_add(out, plan->sites.items, plan->sites.n * sizeof(*site));
	config.texts = (uint32_t)out->len;
	config.texts_len = (uint32_t)plan->texts.len;
	buf_add(out, plan->texts.data, plan->texts.len);
	buf_align(out, PAGE);
	if (out->oom || plan->texts.oom)
		return uspl_fail_nomem(err);
	config.own = out->len;
	config.own_len = trace_pages(plan->own_len) + sums_tables_len(plan, session);
	config.len = config.own + config.own_len + plan->leaves_len;
	memcpy(out->data, &config, sizeof(config));
	by_id = (uint16_t *)(out->data + config.by_id);
	vec_for_each (&plan->sites, site)
		by_id[site->id] = (uint16_t)(site - plan->sites.items + 1);
	return 0;
}

int listen_config_open(struct proc *proc, const struct trace_request *request,
		       struct trace_session *session, struct uspl_err *err)
{
	const struct listen_plan *plan = request->listen;
	auto_buf struct buf out = { 0 };
	const struct uspl_listen_config *config;
	struct shared_map shared_map = { 0 };
	struct uspl_alloc *own;
	struct trace_region *region;
	int rc = lay_out(request, session, &out, err);

	if (rc)
		return rc;
	config = (const struct uspl_listen_config *)out.data;
	shared_map.own_len = trace_pages(config->len);
	rc = shared_map_map(proc, &shared_map, err);
	if (rc)
		return rc;
	vec_for_each (&session->regions, region) {
		region->head.config = shared_map.own;
		region->head.listen_config_len = config->len;
	}
	rc = proc_write(proc, shared_map.own, out.data, out.len, err);
	if (rc)
		return rc;
	if (plan->leaves_len) {
		taddr at = shared_map.own + config->own;
		taddr leaves = at + config->own_len;

		rc = proc_write(proc, at + offsetof(__typeof__(*own), leaves), &leaves,
				sizeof(leaves), err);
		if (rc)
			return rc;
	}
	/* Tells the parts where the listener config is. */
	vec_for_each (&session->regions, region) {
		region->head.job = plan->job;
		rc = proc_write(proc, region->head.self, &region->head, sizeof(region->head), err);
		if (rc)
			return rc;
	}
	return 0;
}

int listen_config_close(struct proc *proc, const struct uspl_trace_region *head,
			struct uspl_err *err)
{
	return head->config ? shared_map_unmap(proc, head->config, err) : 0;
}

/* Everything that the listener config refers to lies on it. */
static bool is_sound(const struct uspl_trace_region *head, const struct uspl_listen_config *config)
{
	uint64_t ids_end = config->by_id + 2 * ((uint64_t)config->n_ids + 1);
	uint64_t sites_end =
		config->sites + (uint64_t)config->n_sites * sizeof(struct uspl_listen_site);
	uint64_t texts_end = (uint64_t)config->texts + config->texts_len;

	return config->magic == USPL_LISTEN_CONFIG_MAGIC &&
	       config->version == USPL_LISTEN_CONFIG_VERSION &&
	       config->len == head->listen_config_len && ids_end <= config->sites &&
	       sites_end <= config->texts && texts_end <= config->own &&
	       config->own <= LISTEN_CONFIG_MAX && config->own <= config->len &&
	       config->own_len <= config->len - config->own &&
	       config->thread_len < head->ring_bytes && config->n_sites <= USPL_LISTEN_SITES_MAX;
}

static bool is_site_sound(const struct uspl_listen_config *config,
			  const struct uspl_listen_site *site)
{
	bool sound =
		site->n_args <= USPL_LISTEN_ARGS_MAX && site->result.name <= config->texts_len &&
		site->result.type <= config->texts_len && site->id && site->id <= config->n_ids;

	for (size_t i = 0; sound && i < site->n_args; i++)
		sound = site->args[i].name <= config->texts_len &&
			site->args[i].type <= config->texts_len;
	return sound;
}

static int read_parts(const struct proc *proc, taddr at, struct listen_config *config,
		      struct uspl_err *err)
{
	const struct uspl_listen_config *head = &config->head;
	int rc = 0;

	for (uint32_t i = 0; i < head->n_sites; i++)
		if (!vec_push(&config->sites))
			return uspl_fail_nomem(err);
	config->texts = calloc(1, head->texts_len + 1);
	if (!config->texts)
		return uspl_fail_nomem(err);
	if (head->n_sites) {
		rc = proc_read(proc, at + head->sites, config->sites.items,
			       head->n_sites * sizeof(*config->sites.items), err);
		if (rc)
			return rc;
	}
	if (head->texts_len) {
		rc = proc_read(proc, at + head->texts, config->texts, head->texts_len, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < config->sites.n; i++)
		if (!is_site_sound(head, &config->sites.items[i]))
			return uspl_fail(err, USPL_E_HOSTILE,
					 "what pid %d is listened to is damaged", proc->pid);
	return 0;
}

int listen_config_read(const struct proc *proc, const struct trace_session *session,
		       struct listen_config *ret, struct uspl_err *err)
{
	const struct uspl_trace_region *head =
		session->regions.n ? &session->regions.items[0].head : NULL;
	auto_listen_config struct listen_config config = { 0 };
	int rc;

	if (!head || !head->config || shared_map_is_copy(proc, head->tables)) {
		*ret = config;
		return 0;
	}
	rc = proc_read(proc, head->config, &config.head, sizeof(config.head), err);
	if (rc)
		return rc;
	if (!is_sound(head, &config.head))
		return uspl_fail(err, USPL_E_HOSTILE, "what pid %d is listened to is damaged",
				 proc->pid);
	rc = read_parts(proc, head->config, &config, err);
	if (rc)
		return rc;
	*ret = config;
	config = (struct listen_config){ 0 };
	return 0;
}

void listen_config_release(struct listen_config *config)
{
	vec_release(&config->sites);
	free(config->texts);
	config->texts = NULL;
}

const struct uspl_listen_site *listen_config_site(const struct listen_config *config, uint32_t id)
{
	const struct uspl_listen_site *site;

	vec_for_each (&config->sites, site)
		if (site->id == id)
			return site;
	return NULL;
}

const char *listen_config_text(const struct listen_config *config, uint32_t offset)
{
	return config->texts ? config->texts + offset : "";
}

taddr listen_config_own(const struct trace_session *session, const struct listen_config *config)
{
	return session->regions.items[0].head.config + config->head.own;
}

taddr listen_config_thread(const struct trace_session *session, const struct listen_config *config,
			   size_t i)
{
	const struct uspl_trace_region *head = &session->regions.items[0].head;

	return head->rings + (i + 1) * head->ring_bytes - config->head.thread_len;
}

int listen_config_threads(const struct proc *proc, const struct trace_session *session, size_t *ret,
			  struct uspl_err *err)
{
	const struct uspl_trace_region *head = &session->regions.items[0].head;
	struct uspl_trace_counters counters;
	int rc = proc_read(proc, head->counters, &counters, sizeof(counters), err);

	if (rc)
		return rc;
	*ret = counters.next_ring < head->n_rings ? counters.next_ring : head->n_rings;
	return 0;
}
