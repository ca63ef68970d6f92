// SPDX-License-Identifier: GPL-3.0-or-later
// merge_nops.c - several NOPs at an entry are made one, so that a jump can take their place without
// a stop
/*
 * gcc's -fpatchable-function-entry=5 makes five instructions. A thread may stand between any two of
 * them, and would find the middle of the jump. But all before the last one may become prefixes of
 * it while all threads run: where a thread stands, it finds NOPs. A thread that comes to the entry
 * from then on executes all of them at once. So when each thread has been seen somewhere else once,
 * the bytes are what a NOP of five bytes is, and are exchanged like that.
 *
 * A tool that dies in between leaves the one NOP, which does what the several did; stop puts them
 * back.
 */

#include "trace/engine/merge_nops.h"

#include <string.h>
#include <time.h>

#include "base/cancel.h"
#include "base/log.h"
#include "trace/engine/patch_module.h"

/* How long the threads may take to leave the bytes, and how long to wait between two looks. */
#define DRAIN_NS 30000000000ll
#define PAUSE_NS 2000000

size_t merge_nops_count_words(const candidate_vec *candidates)
{
	const struct candidate *candidate;
	size_t n = candidates->n;

	vec_for_each (candidates, candidate)
		n += candidate->kind == CANDIDATE_NOPS && candidate->guard > 1;
	return n;
}

void merge_nops_init(struct merge_nops *merge, const struct patch_input *in)
{
	*merge = (struct merge_nops){ 0 };
	merge->poke.proc = merge->drain.text.proc = merge->drain.agents.proc = in->proc;
	merge->drain.text.unwinder = merge->drain.agents.unwinder = in->unwinder;
}

void merge_nops_release(struct merge_nops *merge)
{
	drain_forget(&merge->drain);
	vec_release(&merge->entries);
	text_poke_release(&merge->poke);
	safety_release(&merge->drain.text);
	safety_release(&merge->drain.agents);
}

int merge_nops_add(struct merge_nops *merge, taddr entry, const uint8_t *merged,
		   struct uspl_err *err)
{
	struct merge_nops_entry *item = vec_push(&merge->entries);

	if (!item)
		return uspl_fail_nomem(err);
	item->addr = entry;
	memcpy(item->merged, merged, sizeof(item->merged));
	return safety_add(&merge->drain.text, "NOPs", entry + 1, USPL_TRACE_SITE_BYTES - 1, false,
			  err);
}

/* Makes the words in which the NOPs become one, and has the others begin with that. */
static int merge_all(struct merge_nops *merge, struct text_poke *poke, struct uspl_err *err)
{
	size_t at = 0;

	for (size_t i = 0; i < merge->entries.n; i++) {
		const struct merge_nops_entry *entry = &merge->entries.items[i];
		struct inject_word *word, *item;

		while (at < poke->items.n && poke->items.items[at].addr + WORD_LEN <= entry->addr)
			at++;
		if (at == poke->items.n || poke->items.items[at].addr > entry->addr)
			return uspl_fail(err, USPL_E_BUG, "an entry isn't among the words");
		word = &poke->items.items[at];
		item = vec_push(&merge->poke.items);
		if (!item)
			return uspl_fail_nomem(err);
		/* The entry lies in the word, and both hold what is there now. */
		*item = *word;
		item->to = item->from;
		memcpy((uint8_t *)&item->to + entry->addr % WORD_LEN, entry->merged,
		       sizeof(entry->merged));
		word->from = item->to;
	}
	return 0;
}

int merge_nops_take(struct merge_nops *merge, struct text_poke *poke, struct uspl_err *err)
{
	int rc = merge_all(merge, poke, err);

	if (rc || !merge->entries.n)
		return rc;
	merge->poke.table = poke->table + poke->items.n * sizeof(struct inject_word);
	merge->poke.result_page = poke->result_page;
	merge->poke.agent = poke->agent;
	merge->poke.sleeper = poke->sleeper;
	rc = text_poke_write_table(&merge->poke, err);
	safety_seal(&merge->drain.text);
	safety_seal(&merge->drain.agents);
	if (rc)
		return rc;
	return drain_look_ahead(&merge->drain, err);
}

int merge_nops_await_drained(struct merge_nops *merge, struct uspl_err *err)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t deadline = clock_now_ns() + DRAIN_NS;
	bool told = false;

	for (;;) {
		bool late = clock_now_ns() >= deadline;
		int rc = drain_look(&merge->drain, err);

		if (!rc && !merge->drain.in_text)
			return 0;
		if (!rc && !told)
			log_info("stop", "%zu threads stand among NOPs", merge->drain.in_text);
		told = told || !rc;
		/*
		 * On a busy machine a thread that wants to run isn't stopped before its turn comes.
		 */
		if (rc && (late || rc != -USPL_E_UNSTOPPABLE))
			return rc;
		if (late)
			return uspl_fail(
				err, USPL_E_BUSY,
				"a thread of pid %d stays within the first bytes of a function",
				merge->poke.proc->pid);
		rc = cancel_check(err);
		if (rc)
			return rc;
		nanosleep(&pause, NULL);
	}
}
