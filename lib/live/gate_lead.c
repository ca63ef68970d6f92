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
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "arch/arch.h"
#include "base/log.h"
#include "live/entries.h"
#include "live/gate.h"
#include "proc/inject.h"

#define PAGE 4096ull
#define WORD 8ull
/* Stores in one run, beside the two calls of mprotect. */
#define STORES_MAX (INJECT_MAX - 2)

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

/* A store to be made. */
struct store {
	taddr addr;
	uint64_t value;
};

typedef VEC(struct store) store_vec;

static int by_addr(const void *a, const void *b)
{
	const struct store *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static struct inject_req protect(taddr from, taddr to, int prot)
{
	return inject_syscall(SYS_mprotect, from, to - from, (uint64_t)prot);
}

static int protection_of(const struct mapping *map)
{
	return (map->read ? PROT_READ : 0) | (map->write ? PROT_WRITE : 0) |
	       (map->exec ? PROT_EXEC : 0);
}

/* After a run of which it isn't known how far it came. */
static void protect_again(const struct proc *proc, taddr from, taddr to, int prot)
{
	struct inject_req req = protect(from, to, prot);
	size_t done;

	if (inject_run(proc, &req, 1, &done, NULL) != 0)
		log_info("gate", "code at 0x%" PRIx64 " of pid %d may have stayed writable", from,
			 proc->pid);
}

/* Stores in one mapping, sorted by address. */
static int run_stores(const struct proc *proc, const struct store *stores, size_t n,
		      struct uspl_err *err)
{
	const struct mapping *map = proc_mapping_at(proc, stores[0].addr);
	taddr from = stores[0].addr & ~(PAGE - 1);
	taddr to = (stores[n - 1].addr + PAGE) & ~(PAGE - 1);
	struct inject_req reqs[INJECT_MAX];
	size_t n_reqs = 0, done;
	int rc;

	if (!map)
		return uspl_fail(err, USPL_E_OVERWRITTEN, "nothing is mapped at 0x%" PRIx64 " now",
				 stores[0].addr);
	reqs[n_reqs++] = protect(from, to, protection_of(map) | PROT_WRITE);
	for (size_t i = 0; i < n; i++)
		reqs[n_reqs++] = (struct inject_req){ .kind = INJECT_STORE,
						      .what = stores[i].addr,
						      .args = { stores[i].value } };
	reqs[n_reqs++] = protect(from, to, protection_of(map));
	rc = inject_run(proc, reqs, n_reqs, &done, err);
	if (rc)
		protect_again(proc, from, to, protection_of(map));
	if (!rc && (done < n_reqs || reqs[n_reqs - 1].result < 0))
		rc = uspl_fail(err, USPL_E_UNSUPPORTED,
			       "code at 0x%" PRIx64 " can't be made writable in pid %d", from,
			       proc->pid);
	return rc;
}

static int make_stores(const struct proc *proc, store_vec *stores, struct uspl_err *err)
{
	size_t first = 0;
	int rc = 0;

	if (!stores->n)
		return 0;
	qsort(stores->items, stores->n, sizeof(*stores->items), by_addr);
	for (size_t i = 1; !rc && i <= stores->n; i++) {
		const struct mapping *map = proc_mapping_at(proc, stores->items[first].addr);

		if (i < stores->n && i - first < STORES_MAX && map &&
		    stores->items[i].addr < map->end)
			continue;
		rc = run_stores(proc, stores->items + first, i - first, err);
		first = i;
	}
	return rc;
}

/* The aligned word around the entry, with the entry's new bytes. */
static int add_store(const struct proc *proc, const struct region_site *site, const uint8_t *bytes,
		     store_vec *stores, struct uspl_err *err)
{
	taddr at = site->addr & ~(WORD - 1);
	struct store *store = vec_push(stores);
	uint8_t word[WORD];
	int rc;

	if (!store)
		return uspl_fail_nomem(err);
	store->addr = at;
	rc = proc_read(proc, at, word, sizeof(word), err);
	if (rc)
		return rc;
	memcpy(word + (site->addr - at), bytes, site->len);
	memcpy(&store->value, word, sizeof(word));
	return 0;
}

static int fail_alien(const struct region_site *site, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_OVERWRITTEN,
			 "the entry of '%s' at 0x%" PRIx64 " holds other bytes than expected",
			 site->name, site->addr);
}

static int lead_site(const struct proc *proc, const struct region *region,
		     const struct region_site *site, enum gate_entry to, store_vec *stores,
		     struct uspl_err *err)
{
	enum gate_entry now = gates_entry(proc, region, site);
	uint8_t bytes[USPL_SITE_BYTES_MAX];

	if (now == GATE_ENTRY_ALIEN || !bytes_of(region, site, to, bytes))
		return fail_alien(site, err);
	/* A tight entry always leads to its gate. */
	if (now == to || (to == GATE_ENTRY_NEW && now == GATE_ENTRY_GATE && entry_is_tight(site)))
		return 0;
	/* A pun and the old bytes differ in their first byte. */
	if (site->entry == USPL_ENTRY_PUN && now != GATE_ENTRY_NEW && to != GATE_ENTRY_NEW)
		return proc_write(proc, site->addr, bytes, 1, err);
	if (site->addr % WORD + site->len <= WORD)
		return add_store(proc, site, bytes, stores, err);
	if (to == GATE_ENTRY_NEW && now == GATE_ENTRY_GATE)
		return 0;
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "the entry of '%s' doesn't lie in one aligned word", site->name);
}

int gates_write_word(const struct proc *proc, const struct region *region,
		     enum uspl_word_value value, struct uspl_err *err)
{
	uint8_t byte = (uint8_t)value;

	return region->word ? proc_write(proc, region->word + offsetof(struct uspl_word, value),
					 &byte, sizeof(byte), err)
			    : 0;
}

int gates_lead(const struct proc *proc, struct region *region, enum gate_entry to,
	       struct uspl_err *err)
{
	const struct region_site *site;
	store_vec stores = { 0 };
	int rc = 0;

	vec_for_each (&region->sites, site)
		rc = rc ? rc : lead_site(proc, region, site, to, &stores, err);
	if (!rc)
		rc = make_stores(proc, &stores, err);
	vec_release(&stores);
	return rc;
}
