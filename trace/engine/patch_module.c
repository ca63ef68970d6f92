// SPDX-License-Identifier: GPL-3.0-or-later
// patch_module.c - the sites of one region are exchanged
/*
 * Sites need not change together: what has to hold is that no thread is between two of the
 * instructions that become one jump. So there are two kinds of sites:
 *     poked     one instruction becomes another one, or several, and all of it lies in one word:
 *               exchanged while all threads run
 *               (NOPs of one byte each are made one instruction before: merge_nops.c)
 *     stopped   the others: in stops (patch_stopped.c)
 */

#include "trace/engine/patch_module.h"

#include <string.h>

#include "arch/arch.h"
#include "base/log.h"
#include "inject/inject.h"
#include "record/chain_slot.h"
#include "switch/trampolines.h"
#include "text/text_poke.h"
#include "trace/engine/merge_nops.h"
#include "trace/engine/trace_module.h"
#include "trace/engine/patch_stopped.h"

/* Words in one run of the agent: with its thread asleep, or running. */
#define BLOCKED_MAX (4ul * TEXT_POKE_SLICE)
#define RUNNING_MAX 8192
#define CODE_CHUNK 65536

/* The sites of a region while they are exchanged. */
struct module_patch {
	const struct patch_input *in;
	const struct trace_region *region;
	struct patch_result *result;
	struct site_plan plan; /* of the poked ones */
	struct text_poke poke;
	struct merge_nops merge; /* those of them that are to be one instruction first */
	site_vec stopped_sites;  /* as they come: by address */
	struct patch_stopped stopped;
	/* A copy of the code around the site that was looked at last. */
	taddr chunk;
	size_t chunk_len;
	uint8_t code[CODE_CHUNK];
};

/*
 * What stands at an entry, TRACE_NOPS_CODE bytes or as many as there are; entries are asked for in
 * order. 0 if nothing is mapped there, or less than a site.
 */
static size_t read_entry(struct module_patch *patch, taddr entry, uint8_t *ret)
{
	size_t len;

	if (entry < patch->chunk || entry + TRACE_NOPS_CODE > patch->chunk + patch->chunk_len) {
		patch->chunk = entry;
		patch->chunk_len =
			proc_read_some(patch->in->proc, entry, patch->code, sizeof(patch->code));
	}
	len = (size_t)(patch->chunk + patch->chunk_len - entry);
	if (len > TRACE_NOPS_CODE)
		len = TRACE_NOPS_CODE;
	memcpy(ret, patch->code + (entry - patch->chunk), len);
	return len < USPL_TRACE_SITE_BYTES ? 0 : len;
}

/* What the entry holds without the tracer. */
static int read_under(const struct module_patch *patch, const struct uspl_trace_site *site,
		      uint8_t *ret, struct uspl_err *err)
{
	int rc = 0;

	if (xrefs_hold(patch->in->updated, site->entry)) {
		rc = chain_slot_entry_bytes(patch->in->proc, site, ret, err);
		if (rc)
			return rc;
		trampolines_make_direct(patch->in->updates, site->entry, ret);
	} else {
		memcpy(ret, site->old_bytes, USPL_TRACE_SITE_BYTES);
	}
	return 0;
}

/*
 * True if a site to be taken out doesn't hold our jump: it has its own bytes, since a tool has died
 * or the library was loaded anew, or an update's jump.
 */
static bool is_out(const struct uspl_trace_site *site, const uint8_t *have, taddr thunk)
{
	taddr target = arch_native()->jump_target(site->entry, have, USPL_TRACE_SITE_BYTES);

	return !memcmp(have, site->old_bytes, USPL_TRACE_SITE_BYTES) || (target && target != thunk);
}

static int add_stopped(struct module_patch *patch, const struct site *site, struct uspl_err *err)
{
	struct site *stopped = vec_push(&patch->stopped_sites);

	if (!stopped)
		return uspl_fail_nomem(err);
	*stopped = *site;
	return 0;
}

static int add_site(struct module_patch *patch, size_t i, struct uspl_err *err)
{
	const struct uspl_trace_site *from = &patch->region->sites.items[i];
	taddr thunk = patch->region->head.thunks + i * USPL_TRACE_THUNK;
	struct site site = { .name = patch->region->module_name,
			     .addr = from->entry,
			     .len = USPL_TRACE_SITE_BYTES };
	uint8_t have[TRACE_NOPS_CODE], jump[SITE_BYTES_MAX], merged[USPL_TRACE_SITE_BYTES];
	size_t len = read_entry(patch, from->entry, have);
	bool on = patch->in->on;
	int rc;

	if (!len)
		return uspl_fail(err, USPL_E_OVERWRITTEN, "'%s' isn't mapped any more", site.name);
	if (!on && is_out(from, have, thunk))
		return 0;
	trace_module_site_jump(patch->region, i, jump);
	rc = read_under(patch, from, on ? site.from : site.to, err);
	memcpy(on ? site.to : site.from, !on && trace_site_is_merged(from, have, len) ? have : jump,
	       site.len);
	site.guard = on ? from->guard : 0;
	if (rc)
		return rc;
	if (patch->in->stopped)
		return add_stopped(patch, &site, err);
	/*
	 * It takes the place of several NOPs: the plan has the jump; only the words know what is in
	 * between.
	 */
	if (site.guard > 1 && !from->moved && !memcmp(have, site.from, site.len) &&
	    trace_merge_nops(site.addr, have, len, merged)) {
		rc = merge_nops_add(&patch->merge, site.addr, merged, err);
		if (rc)
			return rc;
	} else if (site_needs_stop(&site))
		return add_stopped(patch, &site, err);
	return site_plan_add(&patch->plan, &site, err);
}

static int make_plan(struct module_patch *patch, struct uspl_err *err)
{
	int rc;

	for (size_t i = 0; i < patch->region->sites.n; i++) {
		rc = add_site(patch, i, err);
		if (rc)
			return rc;
	}
	rc = patch_stopped_init(&patch->stopped, patch->in, &patch->stopped_sites, err);
	if (rc)
		return rc;
	patch_stopped_warm(&patch->stopped, patch->result);
	rc = patch_stopped_prepare(&patch->stopped, err);
	if (rc)
		return rc;
	rc = site_plan_check(&patch->plan, err);
	if (rc)
		return rc;
	rc = site_plan_look(&patch->plan, err);
	if (rc)
		return rc;
	rc = text_poke_take(&patch->poke, &patch->plan, err);
	if (rc)
		return rc;
	patch->poke.table = patch->region->head.poke_table;
	patch->poke.sleeper = inject_sleeper(patch->in->proc);
	if (patch->poke.items.n) {
		rc = agent_new(patch->in->proc, NULL, &patch->poke.agent, err);
		if (rc)
			return rc;
	}
	rc = merge_nops_take(&patch->merge, &patch->poke, err);
	if (rc)
		return rc;
	return text_poke_write_table(&patch->poke, err);
}

static int poke_all(const struct text_poke *poke, struct uspl_err *err)
{
	size_t most = poke->sleeper ? BLOCKED_MAX : RUNNING_MAX;
	int rc = 0;

	for (size_t at = 0, n; at < poke->items.n; at += n) {
		n = poke->items.n - at < most ? poke->items.n - at : most;
		rc = text_poke_exchange(poke, at, n, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int merge_nops(struct module_patch *patch, struct uspl_err *err)
{
	struct merge_nops *merge = &patch->merge;
	struct patch_result *result = patch->result;
	int rc = poke_all(&merge->poke, err);

	if (rc || !merge->entries.n)
		return rc;
	log_info("stop", "the NOPs of %zu functions are one each now", merge->entries.n);
	rc = merge_nops_await_drained(merge, err);
	if (merge->drain.stop_us > result->stop_us)
		result->stop_us = merge->drain.stop_us;
	return rc;
}

static int exchange_poked(struct module_patch *patch, struct uspl_err *err)
{
	int rc = arch_native()->fetches_whole() ? merge_nops(patch, err)
						: uspl_fail(err, USPL_E_UNSUPPORTED,
							    "this processor may fetch a part of "
							    "what is stored: it is emulated");

	if (rc)
		goto free_agent;
	rc = poke_all(&patch->poke, err);

free_agent:
	/* Where code is written in stops the padding holds what it should. */
	agent_free(patch->poke.agent);
	patch->poke.agent = NULL;
	return rc;
}

static int exchange(struct module_patch *patch, struct uspl_err *err)
{
	struct uspl_err why = { 0 };
	int rc = exchange_poked(patch, &why);

	if (rc == -USPL_E_UNSUPPORTED) {
		log_info("stop", "all sites are written in stops: %s", why.msg);
		rc = patch_stopped_once(patch->in, &patch->plan.sites, patch->result, err);
	} else if (rc && err) {
		*err = why;
	}
	if (rc)
		return rc;
	return patch_stopped_exchange(&patch->stopped, patch->result, err);
}

int patch_module_exchange(const struct patch_input *in, const struct trace_region *region,
			  struct patch_result *result, struct uspl_err *err)
{
	struct module_patch *patch = calloc(1, sizeof(*patch));
	int64_t start;
	int rc;

	if (!patch)
		return uspl_fail_nomem(err);
	patch->in = in;
	patch->region = region;
	patch->result = result;
	patch->plan.proc = patch->poke.proc = in->proc;
	merge_nops_init(&patch->merge, in);
	rc = make_plan(patch, err);
	if (rc)
		goto release;
	rc = site_plan_prepare(&patch->plan, err);
	if (rc)
		goto release;
	start = clock_now_ns();
	rc = exchange(patch, err);
	result->switch_us += (double)(clock_now_ns() - start) / 1000;
	if (rc)
		goto release;
	result->sites += patch->plan.sites.n + patch->stopped_sites.n;

release:
	agent_free(patch->poke.agent);
	site_plan_release(&patch->plan);
	text_poke_release(&patch->poke);
	merge_nops_release(&patch->merge);
	patch_stopped_release(&patch->stopped);
	vec_release(&patch->stopped_sites);
	free(patch);
	return rc;
}
