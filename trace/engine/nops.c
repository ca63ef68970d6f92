// SPDX-License-Identifier: GPL-3.0-or-later
// nops.c - several NOPs at an entry are made one, so that a jump can take their place with nobody
// stopped for it
/*
 * gcc's -fpatchable-function-entry=5 makes five instructions. A thread may stand between any two of
 * them, and would find the middle of the jump. But all before the last one may become prefixes of
 * it while everybody runs: where a thread stands, it finds NOPs. Who comes to the entry from then
 * on executes all of them at once. So when each thread has been seen somewhere else once, the bytes
 * are what a NOP of five bytes is, and are exchanged like that.
 *
 * A tool that dies in between leaves the one NOP, which does what the several did; stop puts them
 * back.
 */

#include "trace/engine/nops.h"

#include <string.h>
#include <time.h>

#include "base/cancel.h"
#include "base/log.h"
#include "trace/engine/batch.h"

/* How long the threads may take to leave the bytes, and how long to wait between two looks. */
#define CLEAR_NS 30000000000ll
#define PAUSE_NS 2000000

size_t nops_count_words(const spot_vec *spots)
{
	const struct spot *spot;
	size_t n = spots->n;

	vec_for_each (spots, spot)
		n += spot->kind == SPOT_NOPS && spot->guard > 1;
	return n;
}

void nops_init(struct nops *nops, const struct batch_input *in)
{
	*nops = (struct nops){ 0 };
	nops->words.proc = nops->clear.text.proc = nops->clear.agents.proc = in->proc;
	nops->clear.text.unwinder = nops->clear.agents.unwinder = in->unwinder;
}

void nops_release(struct nops *nops)
{
	clear_forget(&nops->clear);
	vec_release(&nops->entries);
	words_release(&nops->words);
	safety_release(&nops->clear.text);
	safety_release(&nops->clear.agents);
}

int nops_add(struct nops *nops, taddr entry, const uint8_t *joined, struct uspl_err *err)
{
	struct nops_entry *item = vec_push(&nops->entries);

	if (!item)
		return uspl_fail_nomem(err);
	item->addr = entry;
	memcpy(item->joined, joined, sizeof(item->joined));
	return safety_add(&nops->clear.text, "NOPs", entry + 1, USPL_TRACE_SITE_BYTES - 1, false,
			  err);
}

/* The entry lies in the word, and both hold what is there now. */
static int join(struct nops *nops, const struct nops_entry *entry, struct inject_word *word,
		struct uspl_err *err)
{
	struct inject_word *item = vec_push(&nops->words.items);

	if (!item)
		return uspl_fail_nomem(err);
	*item = *word;
	item->to = item->from;
	memcpy((uint8_t *)&item->to + entry->addr % WORD_LEN, entry->joined, sizeof(entry->joined));
	word->from = item->to;
	return 0;
}

/* Makes the words in which the NOPs become one, and has the others begin with that. */
static int join_all(struct nops *nops, struct words *words, struct uspl_err *err)
{
	size_t at = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < nops->entries.n; i++) {
		const struct nops_entry *entry = &nops->entries.items[i];

		while (at < words->items.n && words->items.items[at].addr + WORD_LEN <= entry->addr)
			at++;
		rc = at < words->items.n && words->items.items[at].addr <= entry->addr
			     ? join(nops, entry, &words->items.items[at], err)
			     : uspl_fail(err, USPL_E_BUG, "an entry isn't among the words");
	}
	return rc;
}

int nops_take(struct nops *nops, struct words *words, struct uspl_err *err)
{
	int rc = join_all(nops, words, err);

	if (rc || !nops->entries.n)
		return rc;
	nops->words.table = words->table + words->items.n * sizeof(struct inject_word);
	nops->words.slate = words->slate;
	nops->words.agent = words->agent;
	nops->words.sleeper = words->sleeper;
	rc = words_write(&nops->words, err);
	safety_seal(&nops->clear.text);
	safety_seal(&nops->clear.agents);
	return rc ? rc : clear_look_ahead(&nops->clear, err);
}

int nops_await_clear(struct nops *nops, struct uspl_err *err)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t deadline = clock_now_ns() + CLEAR_NS;
	bool told = false;

	for (;;) {
		bool late = clock_now_ns() >= deadline;
		int rc = clear_look(&nops->clear, err);

		if (!rc && !nops->clear.in_text)
			return 0;
		if (!rc && !told)
			log_info("stop", "%zu threads stand among NOPs", nops->clear.in_text);
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
				nops->words.proc->pid);
		rc = cancel_check(err);
		if (rc)
			return rc;
		nanosleep(&pause, NULL);
	}
}
