// SPDX-License-Identifier: GPL-3.0-or-later
// batch.c - the sites of one region are exchanged
/*
 * Sites need not change together: what has to hold is that no thread is between two of the
 * instructions that become one jump. So there are two kinds of sites:
 *
 *     quiet   one instruction becomes another one, or several, and all of it lies in one word:
 *             exchanged while everybody runs
 *             (NOPs of one byte each are made one instruction before: nops.c)
 *     still   the others: in stops (still.c)
 */

#include "trace/engine/batch.h"

#include <string.h>

#include "arch/arch.h"
#include "base/log.h"
#include "inject/inject.h"
#include "record/slot.h"
#include "switch/gate.h"
#include "text/words.h"
#include "trace/engine/nops.h"
#include "trace/engine/part.h"
#include "trace/engine/still.h"

/* Words in one run of the agent: with its thread asleep, or running. */
#define ASLEEP_MAX (4ul * WORDS_SLICE)
#define RUNNING_MAX 8192
#define CODE_CHUNK 65536

/* The sites of a region while they are exchanged. */
struct batch {
	const struct batch_input *in;
	const struct trace_region *region;
	struct batch_result *result;
	struct site_plan plan; /* of the quiet ones */
	struct words words;
	struct nops nops;     /* those of them that are to be one instruction first */
	site_vec still_sites; /* as they come: by address */
	struct still still;
	/* A copy of the code around the site that was looked at last. */
	taddr chunk;
	size_t chunk_len;
	uint8_t code[CODE_CHUNK];
};

/*
 * What stands at an entry, TRACE_NOPS_CODE bytes or as many as there are; entries are asked for in
 * order. 0 if nothing is mapped there, or less than a site.
 */
static size_t read_entry(struct batch *batch, taddr entry, uint8_t *ret)
{
	size_t len;

	if (entry < batch->chunk || entry + TRACE_NOPS_CODE > batch->chunk + batch->chunk_len) {
		batch->chunk = entry;
		batch->chunk_len =
			proc_read_some(batch->in->proc, entry, batch->code, sizeof(batch->code));
	}
	len = (size_t)(batch->chunk + batch->chunk_len - entry);
	if (len > TRACE_NOPS_CODE)
		len = TRACE_NOPS_CODE;
	memcpy(ret, batch->code + (entry - batch->chunk), len);
	return len < USPL_TRACE_SITE_BYTES ? 0 : len;
}

/* What the entry holds without the tracer. */
static int read_under(const struct batch *batch, const struct uspl_trace_site *site, uint8_t *ret,
		      struct uspl_err *err)
{
	int rc = 0;

	if (xrefs_hold(batch->in->updated, site->entry)) {
		rc = slot_entry_bytes(batch->in->proc, site, ret, err);
		if (!rc)
			gates_straighten(batch->in->updates, site->entry, ret);
	} else {
		memcpy(ret, site->old_bytes, USPL_TRACE_SITE_BYTES);
	}
	return rc;
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

/* True if the site is to take the place of several NOPs: what they are in between is told. */
static bool is_nops(const struct site *site, bool moved, const uint8_t *have, size_t len,
		    uint8_t *ret_joined)
{
	return site->guard > 1 && !moved && !memcmp(have, site->from, site->len) &&
	       trace_join_nops(site->addr, have, len, ret_joined);
}

static int add_still(struct batch *batch, const struct site *site, struct uspl_err *err)
{
	struct site *still = vec_push(&batch->still_sites);

	if (!still)
		return uspl_fail_nomem(err);
	*still = *site;
	return 0;
}

static int add_site(struct batch *batch, size_t i, struct uspl_err *err)
{
	const struct uspl_trace_site *from = &batch->region->sites.items[i];
	taddr thunk = batch->region->head.thunks + i * USPL_TRACE_THUNK;
	struct site site = { .name = batch->region->module_name,
			     .addr = from->entry,
			     .len = USPL_TRACE_SITE_BYTES };
	uint8_t have[TRACE_NOPS_CODE], jump[SITE_BYTES_MAX], joined[USPL_TRACE_SITE_BYTES];
	size_t len = read_entry(batch, from->entry, have);
	bool on = batch->in->on;
	int rc;

	if (!len)
		return uspl_fail(err, USPL_E_OVERWRITTEN, "'%s' isn't mapped any more", site.name);
	if (!on && is_out(from, have, thunk))
		return 0;
	part_site_jump(batch->region, i, jump);
	rc = read_under(batch, from, on ? site.from : site.to, err);
	memcpy(on ? site.to : site.from, !on && trace_site_is_joined(from, have, len) ? have : jump,
	       site.len);
	site.guard = on ? from->guard : 0;
	if (rc)
		return rc;
	if (batch->in->still)
		return add_still(batch, &site, err);
	/* The plan is of what takes their place; what is in between is known to the words only. */
	if (is_nops(&site, from->moved, have, len, joined))
		rc = nops_add(&batch->nops, site.addr, joined, err);
	else if (site_needs_stop(&site))
		return add_still(batch, &site, err);
	return rc ? rc : site_plan_add(&batch->plan, &site, err);
}

static int make_plan(struct batch *batch, struct uspl_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < batch->region->sites.n; i++)
		rc = add_site(batch, i, err);
	if (!rc)
		rc = still_init(&batch->still, batch->in, &batch->still_sites, err);
	if (!rc)
		still_rehearse(&batch->still, batch->result);
	if (!rc)
		rc = site_plan_check(&batch->plan, err);
	if (!rc)
		rc = site_plan_look(&batch->plan, err);
	if (!rc)
		rc = words_take(&batch->words, &batch->plan, err);
	batch->words.table = batch->region->head.words;
	batch->words.sleeper = inject_sleeper(batch->in->proc);
	if (!rc && batch->words.items.n)
		rc = agent_new(batch->in->proc, NULL, &batch->words.agent, err);
	if (!rc)
		rc = nops_take(&batch->nops, &batch->words, err);
	return rc ? rc : words_write(&batch->words, err);
}

static int exchange_words(const struct words *words, struct uspl_err *err)
{
	size_t most = words->sleeper ? ASLEEP_MAX : RUNNING_MAX;
	int rc = 0;

	for (size_t at = 0, n; !rc && at < words->items.n; at += n) {
		n = words->items.n - at < most ? words->items.n - at : most;
		rc = words_exchange(words, at, n, err);
	}
	return rc;
}

static int join_nops(struct batch *batch, struct uspl_err *err)
{
	struct nops *nops = &batch->nops;
	struct batch_result *result = batch->result;
	int rc = exchange_words(&nops->words, err);

	if (rc || !nops->entries.n)
		return rc;
	log_info("stop", "the NOPs of %zu functions are one each now", nops->entries.n);
	rc = nops_await_clear(nops, err);
	if (nops->clear.stop_us > result->stop_us)
		result->stop_us = nops->clear.stop_us;
	return rc;
}

static int exchange_quiet(struct batch *batch, struct uspl_err *err)
{
	int rc = arch_native()->fetches_whole() ? join_nops(batch, err)
						: uspl_fail(err, USPL_E_UNSUPPORTED,
							    "this processor may fetch a part of "
							    "what is stored: it is emulated");

	if (!rc)
		rc = exchange_words(&batch->words, err);
	/* Where code is written in stops the slack holds what it should. */
	agent_free(batch->words.agent);
	batch->words.agent = NULL;
	return rc;
}

static int exchange(struct batch *batch, struct uspl_err *err)
{
	struct uspl_err why = { 0 };
	int rc = exchange_quiet(batch, &why);

	if (rc == -USPL_E_UNSUPPORTED) {
		log_info("stop", "all sites are written in stops: %s", why.msg);
		rc = still_exchange_once(batch->in, &batch->plan.sites, batch->result, err);
	} else if (rc && err) {
		*err = why;
	}
	return rc ? rc : still_exchange(&batch->still, batch->result, err);
}

int batch_exchange(const struct batch_input *in, const struct trace_region *region,
		   struct batch_result *result, struct uspl_err *err)
{
	struct batch *batch = calloc(1, sizeof(*batch));
	int64_t start;
	int rc;

	if (!batch)
		return uspl_fail_nomem(err);
	batch->in = in;
	batch->region = region;
	batch->result = result;
	batch->plan.proc = batch->words.proc = in->proc;
	nops_init(&batch->nops, in);
	rc = make_plan(batch, err);
	start = clock_now_ns();
	if (!rc)
		rc = site_plan_prepare(&batch->plan, err);
	if (!rc)
		rc = exchange(batch, err);
	result->switch_us += (double)(clock_now_ns() - start) / 1000;
	if (!rc)
		result->sites += batch->plan.sites.n + batch->still_sites.n;
	agent_free(batch->words.agent);
	site_plan_release(&batch->plan);
	words_release(&batch->words);
	nops_release(&batch->nops);
	still_release(&batch->still);
	vec_release(&batch->still_sites);
	free(batch);
	return rc;
}
