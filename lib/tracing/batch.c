// SPDX-License-Identifier: GPL-3.0-or-later
// batch.c - the sites of one region are exchanged
/*
 * Sites need not change together: what has to hold is that no thread is between two of the instructions that become one jump. So there are
 * two kinds of sites:
 *
 *     quiet   one instruction becomes another one, or several, and all of it lies in one word: exchanged while everybody runs
 *     still   the others: in stops (still.c)
 */

#include <string.h>

#include "arch/arch.h"
#include "base/log.h"
#include "live/gate.h"
#include "live/slot.h"
#include "live/words.h"
#include "proc/inject.h"
#include "tracing/internal.h"

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
	site_vec still_sites; /* as they come: by address */
	struct still still;
	/* A copy of the code around the site that was looked at last. */
	taddr chunk;
	size_t chunk_len;
	uint8_t code[CODE_CHUNK];
};

/* What stands at an entry; entries are asked for in order. False if nothing is mapped there. */
static bool read_entry(struct batch *batch, taddr entry, uint8_t *ret)
{
	if (entry < batch->chunk ||
	    entry + USPL_TRACE_SITE_BYTES > batch->chunk + batch->chunk_len) {
		batch->chunk = entry;
		batch->chunk_len =
			proc_read_some(batch->in->proc, entry, batch->code, sizeof(batch->code));
		if (batch->chunk_len < USPL_TRACE_SITE_BYTES)
			return false;
	}
	memcpy(ret, batch->code + (entry - batch->chunk), USPL_TRACE_SITE_BYTES);
	return true;
}

/* What the entry holds without the tracer. */
static int read_under(const struct batch *batch, const struct uspl_trace_site *site, uint8_t *ret,
		      struct uspl_err *err)
{
	int rc = 0;

	if (addrs_hold(batch->in->updated, site->entry)) {
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

static int add_site(struct batch *batch, size_t i, struct uspl_err *err)
{
	const struct uspl_trace_site *from = &batch->region->sites.items[i];
	taddr thunk = batch->region->head.thunks + i * USPL_TRACE_THUNK;
	struct site site = { .name = batch->region->module_name,
			     .addr = from->entry,
			     .len = USPL_TRACE_SITE_BYTES };
	uint8_t have[USPL_TRACE_SITE_BYTES], jump[SITE_BYTES_MAX];
	bool on = batch->in->on;
	struct site *still;
	int rc;

	if (!read_entry(batch, from->entry, have))
		return uspl_fail(err, USPL_E_OVERWRITTEN, "'%s' isn't mapped any more", site.name);
	if (!on && is_out(from, have, thunk))
		return 0;
	part_site_jump(batch->region, i, jump);
	rc = read_under(batch, from, on ? site.from : site.to, err);
	memcpy(on ? site.to : site.from, jump, site.len);
	site.guard = on ? from->guard : 0;
	if (rc || !site_needs_stop(&site))
		return rc ? rc : site_plan_add(&batch->plan, &site, err);
	still = vec_push(&batch->still_sites);
	if (!still)
		return uspl_fail_nomem(err);
	*still = site;
	return 0;
}

static int make_plan(struct batch *batch, struct uspl_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < batch->region->sites.n; i++)
		rc = add_site(batch, i, err);
	if (!rc)
		rc = still_init(&batch->still, batch->in, &batch->still_sites, err);
	if (!rc)
		rc = site_plan_check(&batch->plan, err);
	if (!rc)
		rc = site_plan_look(&batch->plan, err);
	if (!rc)
		rc = words_take(&batch->words, &batch->plan, err);
	batch->words.table = batch->region->head.words;
	batch->words.sleeper = inject_sleeper(batch->in->proc);
	if (!rc)
		rc = words_write(&batch->words, err);
	return rc || !batch->words.items.n
		       ? rc
		       : inject_agent_new(batch->in->proc, &batch->words.agent, err);
}

static int exchange_quiet(struct batch *batch, struct uspl_err *err)
{
	const struct words *words = &batch->words;
	size_t most = words->sleeper ? ASLEEP_MAX : RUNNING_MAX;
	int rc = 0;

	for (size_t at = 0, n; !rc && at < words->items.n; at += n) {
		n = words->items.n - at < most ? words->items.n - at : most;
		rc = words_exchange(words, at, n, err);
	}
	/* Where code is written in stops the slack holds what it should. */
	inject_agent_free(batch->words.agent);
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
	rc = make_plan(batch, err);
	start = clock_now_ns();
	if (!rc)
		rc = site_plan_prepare(&batch->plan, err);
	if (!rc)
		rc = exchange(batch, err);
	result->switch_us += (double)(clock_now_ns() - start) / 1000;
	if (!rc)
		result->sites += batch->plan.sites.n + batch->still_sites.n;
	inject_agent_free(batch->words.agent);
	site_plan_release(&batch->plan);
	words_release(&batch->words);
	still_release(&batch->still);
	vec_release(&batch->still_sites);
	free(batch);
	return rc;
}
