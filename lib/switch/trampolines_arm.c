// SPDX-License-Identifier: GPL-3.0-or-later
// trampolines_arm.c - entries that lead to the old function, to a trampoline, or to the new
// function
/*
 * Threads that run through an entry see every change made in one piece:
 *
 *     old <-> trampoline by a punned jump   one byte, written by the tool
 *     everything else                       the entry's bytes in one store of the aligned word
 *                                           around them, made by a thread of the target, since only
 *                                           there a store is sure to be one. The page is made
 *                                           writable for it and back in one run.
 */

#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"
#include "switch/trampolines.h"
#include "text/text_poke.h"

/* What the entry would hold; false if there is no such form of it. */
static bool bytes_of(const struct region *region, const struct region_site *site,
		     enum entry_form entry, uint8_t bytes[USPL_SITE_BYTES_MAX])
{
	if (entry == ENTRY_TRAMPOLINE)
		return trampolines_jump(region, site, bytes);
	memcpy(bytes, entry == ENTRY_ORIGINAL ? site->old_bytes : site->new_bytes, site->len);
	return true;
}

enum entry_form trampolines_entry_form(const struct proc *proc, const struct region *region,
				       const struct region_site *site)
{
	uint8_t have[USPL_SITE_BYTES_MAX], want[USPL_SITE_BYTES_MAX];

	if (proc_read_some(proc, site->addr, have, site->len) != site->len)
		return ENTRY_ALIEN;
	for (enum entry_form entry = 0; entry < ENTRY_ALIEN; entry++)
		if (bytes_of(region, site, entry, want) && !memcmp(have, want, site->len))
			return entry;
	return ENTRY_ALIEN;
}

static int by_addr(const void *a, const void *b)
{
	const struct inject_word *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int write_entry(const struct proc *proc, const struct region *region,
		       const struct region_site *site, enum entry_form to, struct text_poke *poke,
		       struct uspl_err *err)
{
	enum entry_form now = trampolines_entry_form(proc, region, site);
	uint8_t bytes[USPL_SITE_BYTES_MAX];
	struct inject_word *word;
	int rc;

	if (now == ENTRY_ALIEN || !bytes_of(region, site, to, bytes))
		return uspl_fail(err, USPL_E_OVERWRITTEN,
				 "the entry of '%s' at 0x%" PRIx64
				 " holds other bytes than expected",
				 site->name, site->addr);
	/* A short entry always leads to its trampoline. */
	if (now == to ||
	    (to == ENTRY_DIRECT && now == ENTRY_TRAMPOLINE && region_site_is_short(site)))
		return 0;
	/* A punned jump and the old bytes differ in their first byte. */
	if (site->entry == USPL_ENTRY_PUNNED && now != ENTRY_DIRECT && to != ENTRY_DIRECT)
		return proc_write(proc, site->addr, bytes, 1, err);
	if (site->addr % WORD_LEN + site->len > WORD_LEN) {
		if (to == ENTRY_DIRECT && now == ENTRY_TRAMPOLINE)
			return 0;
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the entry of '%s' doesn't lie in one aligned word", site->name);
	}
	/* The aligned word around the entry, with the entry's new bytes. */
	word = vec_push(&poke->items);
	if (!word)
		return uspl_fail_nomem(err);
	word->addr = site->addr & ~(WORD_LEN - 1);
	rc = proc_read(proc, word->addr, &word->from, sizeof(word->from), err);
	if (rc)
		return rc;
	word->to = word->from;
	memcpy((uint8_t *)&word->to + (site->addr - word->addr), bytes, site->len);
	return 0;
}

int trampolines_arm(const struct proc *proc, const module_vec *modules, struct region *region,
		    enum entry_form to, struct uspl_err *err)
{
	const struct region_site *site;
	struct text_poke poke = { .proc = proc,
				  .result_page = trampolines_result_page(region),
				  .modules = modules };
	int rc = 0;

	vec_for_each (&region->sites, site) {
		rc = write_entry(proc, region, site, to, &poke, err);
		if (rc)
			break;
	}
	if (poke.items.n)
		qsort(poke.items.items, poke.items.n, sizeof(*poke.items.items), by_addr);
	if (!rc)
		rc = text_poke_exchange(&poke, 0, poke.items.n, err);
	text_poke_release(&poke);
	return rc;
}
