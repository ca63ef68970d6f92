// SPDX-License-Identifier: GPL-3.0-or-later
// gate_lead.c - entries that lead to the old function, to a gate, or to the new function
/*
 * Every change is made in one piece, for the eyes of threads that run through it:
 *
 *     old <-> gate by a pun     one byte, written by us
 *     everything else           the entry's bytes in one store of the aligned word around them,
 *                               made by a thread of the target, since only there a store is sure to
 *                               be one. The page is made writable for it and back in one run.
 */

#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"
#include "switch/gate.h"
#include "text/words.h"

/* What the entry would hold; false if there is no such form of it. */
static bool bytes_of(const struct region *region, const struct region_site *site,
		     enum gate_entry entry, uint8_t bytes[USPL_SITE_BYTES_MAX])
{
	if (entry == GATE_ENTRY_GATE)
		return gates_jump(region, site, bytes);
	memcpy(bytes, entry == GATE_ENTRY_OLD ? site->old_bytes : site->new_bytes, site->len);
	return true;
}

enum gate_entry gates_entry(const struct proc *proc, const struct region *region,
			    const struct region_site *site)
{
	uint8_t have[USPL_SITE_BYTES_MAX], want[USPL_SITE_BYTES_MAX];

	if (proc_read_some(proc, site->addr, have, site->len) != site->len)
		return GATE_ENTRY_ALIEN;
	for (enum gate_entry entry = 0; entry < GATE_ENTRY_ALIEN; entry++)
		if (bytes_of(region, site, entry, want) && !memcmp(have, want, site->len))
			return entry;
	return GATE_ENTRY_ALIEN;
}

static int by_addr(const void *a, const void *b)
{
	const struct inject_word *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int make_stores(struct words *words, struct uspl_err *err)
{
	if (words->items.n)
		qsort(words->items.items, words->items.n, sizeof(*words->items.items), by_addr);
	return words_exchange(words, 0, words->items.n, err);
}

/* The aligned word around the entry, with the entry's new bytes. */
static int add_store(const struct region_site *site, const uint8_t *bytes, struct words *words,
		     struct uspl_err *err)
{
	taddr at = site->addr & ~(WORD_LEN - 1);
	struct inject_word *word = vec_push(&words->items);
	uint8_t to[WORD_LEN];
	int rc;

	if (!word)
		return uspl_fail_nomem(err);
	word->addr = at;
	rc = proc_read(words->proc, at, &word->from, sizeof(word->from), err);
	if (rc)
		return rc;
	memcpy(to, &word->from, sizeof(to));
	memcpy(to + (site->addr - at), bytes, site->len);
	memcpy(&word->to, to, sizeof(to));
	return 0;
}

static int fail_alien(const struct region_site *site, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_OVERWRITTEN,
			 "the entry of '%s' at 0x%" PRIx64 " holds other bytes than expected",
			 site->name, site->addr);
}

static int lead_site(const struct proc *proc, const struct region *region,
		     const struct region_site *site, enum gate_entry to, struct words *words,
		     struct uspl_err *err)
{
	enum gate_entry now = gates_entry(proc, region, site);
	uint8_t bytes[USPL_SITE_BYTES_MAX];

	if (now == GATE_ENTRY_ALIEN || !bytes_of(region, site, to, bytes))
		return fail_alien(site, err);
	/* A tight entry always leads to its gate. */
	if (now == to ||
	    (to == GATE_ENTRY_NEW && now == GATE_ENTRY_GATE && region_site_is_tight(site)))
		return 0;
	/* A pun and the old bytes differ in their first byte. */
	if (site->entry == USPL_ENTRY_PUN && now != GATE_ENTRY_NEW && to != GATE_ENTRY_NEW)
		return proc_write(proc, site->addr, bytes, 1, err);
	if (site->addr % WORD_LEN + site->len <= WORD_LEN)
		return add_store(site, bytes, words, err);
	if (to == GATE_ENTRY_NEW && now == GATE_ENTRY_GATE)
		return 0;
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "the entry of '%s' doesn't lie in one aligned word", site->name);
}

int gates_lead(const struct proc *proc, const module_vec *modules, struct region *region,
	       enum gate_entry to, struct uspl_err *err)
{
	const struct region_site *site;
	struct words words = { .proc = proc, .slate = gates_slate(region), .modules = modules };
	int rc = 0;

	vec_for_each (&region->sites, site)
		rc = rc ? rc : lead_site(proc, region, site, to, &words, err);
	if (!rc)
		rc = make_stores(&words, err);
	words_release(&words);
	return rc;
}
