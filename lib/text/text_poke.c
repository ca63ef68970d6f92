// SPDX-License-Identifier: GPL-3.0-or-later
// text_poke.c - words of code that a thread of the target exchanges

#include "text/text_poke.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"

/* Slices in one run: there is also a request between two of them, and two change the protection. */
#define SLICES_MAX ((INJECT_MAX - 2) / 2)

void text_poke_release(struct text_poke *poke)
{
	vec_release(&poke->items);
}

int text_poke_take(struct text_poke *poke, const struct site_plan *plan, struct uspl_err *err)
{
	const struct site_piece *piece;

	vec_for_each (&plan->pieces, piece)
		for (size_t at = 0; at < piece->len; at += WORD_LEN) {
			struct inject_word word = { .addr = piece->addr + at }, *item;

			memcpy(&word.from, piece->before + at, sizeof(word.from));
			memcpy(&word.to, piece->after + at, sizeof(word.to));
			if (word.from == word.to)
				continue;
			item = vec_push(&poke->items);
			if (!item)
				return uspl_fail_nomem(err);
			*item = word;
		}
	return 0;
}

int text_poke_write_table(const struct text_poke *poke, struct uspl_err *err)
{
	return poke->items.n ? proc_write(poke->proc, poke->table, poke->items.items,
					  poke->items.n * sizeof(struct inject_word), err)
			     : 0;
}

static struct inject_req protect(taddr from, taddr to, int prot)
{
	return inject_syscall(SYS_mprotect, from, to - from, (uint64_t)prot);
}

/* Words in one mapping. */
struct stretch {
	size_t first, n;
	taddr from, to; /* whole pages */
	int prot;
};

/* Restores the protection after a run of which it isn't known how far it came. */
static void protect_again(const struct text_poke *poke, const struct stretch *stretch)
{
	struct inject_req req = protect(stretch->from, stretch->to, stretch->prot);
	size_t done;

	if (inject_run(poke->proc, &req, 1, &done, NULL) != 0)
		log_info("words", "code at 0x%" PRIx64 " of pid %d may have stayed writable",
			 stretch->from, poke->proc->pid);
}

/*
 * The requests that make the exchange by the table. The thread that was woken for it may have taken
 * the processor from another one of the program. Its run is traced, and so it stops for a moment at
 * each system call: that is all that the one between two slices is for. (sched_yield would be no
 * better, since it costs the thread its turn: it came back after 4 ms where others want to run.)
 */
static size_t slices(const struct text_poke *poke, const struct stretch *stretch,
		     struct inject_req *reqs)
{
	size_t n = 0;

	for (size_t at = 0; at < stretch->n; at += TEXT_POKE_SLICE) {
		size_t left = stretch->n - at;

		if (at)
			reqs[n++] = inject_syscall(SYS_getpid, 0, 0, 0);
		reqs[n++] = (struct inject_req){
			.kind = INJECT_TABLE,
			.what = poke->table + (stretch->first + at) * sizeof(struct inject_word),
			.args = { left < TEXT_POKE_SLICE ? left : TEXT_POKE_SLICE }
		};
	}
	return n;
}

/* Requests for each word by itself, or for all by the table. */
static size_t exchanges(const struct text_poke *poke, const struct stretch *stretch,
			struct inject_req *reqs)
{
	size_t n = 0;

	if (poke->table)
		return slices(poke, stretch, reqs);
	for (; n < stretch->n; n++) {
		const struct inject_word *word = &poke->items.items[stretch->first + n];

		reqs[n] = (struct inject_req){ .kind = INJECT_STORE,
					       .what = word->addr,
					       .args = { word->to } };
	}
	return n;
}

static int exchange_stretch(const struct text_poke *poke, const struct stretch *stretch,
			    struct uspl_err *err)
{
	const struct inject_choice choice = { .result_page = poke->result_page,
					      .agent = poke->agent,
					      .sleeper = poke->sleeper,
					      .modules = poke->modules };
	struct inject_req reqs[INJECT_MAX];
	size_t n = 1, done, at = stretch->first;
	int rc;

	reqs[0] = protect(stretch->from, stretch->to, stretch->prot | PROT_WRITE);
	n += exchanges(poke, stretch, reqs + n);
	reqs[n++] = protect(stretch->from, stretch->to, stretch->prot);
	rc = inject_run_in(poke->proc, &choice, reqs, n, &done, err);
	if (rc) {
		protect_again(poke, stretch);
		return rc;
	}
	if (reqs[0].result < 0)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "code at 0x%" PRIx64 " can't be made writable in pid %d",
				 stretch->from, poke->proc->pid);
	if (reqs[n - 1].result < 0)
		protect_again(poke, stretch);
	/* A slice may have come to a word that isn't what the table says. */
	for (size_t i = 0; i < n; i++) {
		if (reqs[i].kind != INJECT_TABLE)
			continue;
		if ((uint64_t)reqs[i].result != reqs[i].args[0])
			return uspl_fail(err, USPL_E_OVERWRITTEN,
					 "the code at 0x%" PRIx64 " of pid %d changed meanwhile",
					 poke->items.items[at + (size_t)reqs[i].result].addr,
					 poke->proc->pid);
		at += (size_t)reqs[i].args[0];
	}
	return 0;
}

/* Of n words from `first` on: those that lie in one mapping, and fit into one run. */
static int find_stretch(const struct text_poke *poke, size_t first, size_t n, struct stretch *ret,
			struct uspl_err *err)
{
	const struct inject_word *items = poke->items.items;
	const struct mapping *map = proc_mapping_at(poke->proc, items[first].addr);
	const struct module *module =
		poke->modules ? module_at(poke->modules, items[first].addr) : NULL;
	size_t most = poke->table ? SLICES_MAX * TEXT_POKE_SLICE : TEXT_POKE_FEW, fit = 0;

	if (!map)
		return uspl_fail(err, USPL_E_OVERWRITTEN, "nothing is mapped at 0x%" PRIx64 " now",
				 items[first].addr);
	/* Between two of the thread's system calls something else may come to lie there. */
	if (module && !module->lasting)
		return uspl_fail(err, USPL_E_BUG,
				 "code that may be unloaded is to be written while threads run");
	while (fit < most && fit < n && items[first + fit].addr < map->end)
		fit++;
	*ret = (struct stretch){ .first = first,
				 .n = fit,
				 .from = items[first].addr & ~(PAGE - 1),
				 .to = (items[first + fit - 1].addr + PAGE) & ~(PAGE - 1),
				 .prot = (map->read ? PROT_READ : 0) |
					 (map->write ? PROT_WRITE : 0) |
					 (map->exec ? PROT_EXEC : 0) };
	return 0;
}

int text_poke_exchange(const struct text_poke *poke, size_t first, size_t n, struct uspl_err *err)
{
	while (n) {
		struct stretch stretch;
		int rc = find_stretch(poke, first, n, &stretch, err);

		if (rc)
			return rc;
		rc = exchange_stretch(poke, &stretch, err);
		if (rc)
			return rc;
		first += stretch.n;
		n -= stretch.n;
	}
	return 0;
}
