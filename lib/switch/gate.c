// SPDX-License-Identifier: GPL-3.0-or-later
// gate.c - the gates of an update: planned, and brought into the process
/*
 * Where the four bytes behind an entry's first one lead decides where its pad must be: any place
 * within 2 GB of the function. A page is mapped there, if the place is free, and kept (pads.h): a
 * thread may be on its way through it for as long as it likes.
 */

#include "switch/gate.h"

#include <string.h>

#include "arch/arch.h"
#include "inject/inject.h"

/* Each pad is held against all others. */
#define SITES_MAX 4096

uint64_t gates_room(const struct region *region)
{
	return (region->sites.n * GATE_LEN + PAGE - 1) / PAGE * PAGE + USPL_WORD_LEN;
}

void gates_place(struct region *region, taddr at)
{
	region->gates = at;
	region->gates_len = gates_room(region) - USPL_WORD_LEN;
	region->word = at + region->gates_len;
}

taddr gates_slate(const struct region *region)
{
	_Static_assert(GATES_SLATE_AT >= sizeof(struct uspl_word) &&
			       GATES_SLATE_AT + INJECT_SLATE_LEN <= USPL_WORD_LEN,
		       "both have room in the page");

	return region->word ? region->word + GATES_SLATE_AT : 0;
}

void gates_take_over(struct region *region, const struct region *old)
{
	for (size_t i = 0; i < region->sites.n && i < old->sites.n; i++) {
		const struct region_site *from = &old->sites.items[i];
		struct region_site *to = &region->sites.items[i];

		to->entry = from->entry;
		to->pad = from->pad;
		to->pad_len = from->pad_len;
		if (to->home.addr && from->home.addr == to->home.addr)
			to->home = from->home;
	}
}

taddr gate_address(const struct region *region, const struct region_site *site)
{
	return region->gates + (taddr)(site - region->sites.items) * GATE_LEN;
}

void gates_straighten(const region_vec *regions, taddr entry, uint8_t *bytes)
{
	const struct arch *arch = arch_native();
	taddr from = arch->jump_target(entry, bytes, arch->jump_len);
	const struct region_site *site;
	const struct region *region;

	vec_for_each (regions, region)
		vec_for_each (&region->sites, site) {
			taddr to = arch->jump_target(site->addr, site->new_bytes, site->len);

			if (from && to && region->state == USPL_REGION_APPLIED && region->gates &&
			    region_site_entry(site) == entry && from == gate_address(region, site))
				(void)arch->jump_encode(entry, to, bytes);
		}
}

static bool in_one_word(const struct region_site *site)
{
	return site->addr % 8 + site->len <= 8;
}

bool gates_jump(const struct region *region, const struct region_site *site,
		uint8_t bytes[USPL_SITE_BYTES_MAX])
{
	taddr pad;

	if (region_site_is_tight(site) && site->pad_len && region->gates) {
		memcpy(bytes, site->new_bytes, site->len);
		return true;
	}
	if (site->entry == USPL_ENTRY_PUN)
		return gate_pun(site->addr, site->old_bytes, bytes, &pad);
	return site->entry == USPL_ENTRY_STORE &&
	       arch_native()->jump_encode(site->addr, gate_address(region, site), bytes);
}

static int plan_pun(struct gates *gates, struct region_site *site, struct uspl_err *err)
{
	uint8_t bytes[USPL_SITE_BYTES_MAX];
	taddr pad;
	int rc;

	if (!gate_pun(site->addr, site->old_bytes, bytes, &pad))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the first byte of '%s' can't be made a jump", site->name);
	rc = pads_add(&gates->pads, site, pad, gate_address(gates->region, site), err);
	if (!rc)
		site->entry = USPL_ENTRY_PUN;
	return rc;
}

/* By one store: all that is replaced is one instruction, so that nobody can stand inside it. */
static bool plan_store(struct region_site *site, const uint8_t *old, size_t len)
{
	struct insn insn;

	if (!in_one_word(site) || !arch_native()->insn_decode(old, len, &insn) ||
	    insn.len < site->len)
		return false;
	site->entry = USPL_ENTRY_STORE;
	site->pad = site->pad_len = 0;
	return true;
}

/* The bytes at the entry as they were: those behind the jump are still there. */
static int read_old(const struct gates *gates, const struct region_site *site,
		    uint8_t old[GATE_OLD_MAX], size_t *ret_len, struct uspl_err *err)
{
	size_t len = proc_read_some(gates->pads.proc, site->addr, old, GATE_OLD_MAX);

	if (len < site->len)
		return uspl_fail(err, USPL_E_SYSTEM, "'%s' can't be read", site->name);
	memcpy(old, site->old_bytes, site->len);
	*ret_len = len;
	return 0;
}

int gates_open(struct gates *gates, const struct proc *proc, const module_vec *modules,
	       struct region *region, struct uspl_err *err)
{
	*gates = (struct gates){ .region = region };
	return pads_open(&gates->pads, proc, modules, err);
}

int gates_add(struct gates *gates, struct region_site *site, struct uspl_err *err)
{
	struct gate *gate = vec_push(&gates->items);
	uint8_t old[GATE_OLD_MAX];
	/* Of an update that is only planned nobody knows yet where the functions will lie in it. */
	taddr new_addr = site->new_addr ? site->new_addr : gates->region->text;
	struct gate_code code = { .at = gate_address(gates->region, site),
				  .word = gates->region->word,
				  .entry = site->addr,
				  .new_addr = new_addr,
				  .old = old };
	int rc;

	if (!gate)
		return uspl_fail_nomem(err);
	gate->site = site;
	rc = read_old(gates, site, old, &code.old_len, err);
	if (rc)
		return rc;
	rc = gate_encode(&code, gate->code, err);
	if (rc)
		uspl_context(err, "'%s' can't have a gate", site->name);
	return rc;
}

/* One that was led by a pad from the beginning: that it changes a single byte was found then. */
static int plan_tight(struct gates *gates, struct region_site *site, struct uspl_err *err)
{
	if (site->entry != USPL_ENTRY_PUN)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "'%s' is so short that several bytes have to change at a time",
				 site->name);
	return pads_add(&gates->pads, site, site->pad, gate_address(gates->region, site), err);
}

/* How the site's entry is led to its gate. */
static int plan_entry(struct gates *gates, struct region_site *site, struct uspl_err *err)
{
	uint8_t old[GATE_OLD_MAX];
	size_t old_len = 0;
	int rc = read_old(gates, site, old, &old_len, err);

	if (rc)
		return rc;
	if (region_site_is_tight(site))
		return plan_tight(gates, site, err);
	/* A traced function's slot is made for it. */
	if (site->home.addr && plan_store(site, old, old_len))
		return 0;
	rc = plan_pun(gates, site, err);
	return rc == -USPL_E_UNSUPPORTED && plan_store(site, old, old_len) ? 0 : rc;
}

int gates_plan(struct gates *gates, const struct proc *proc, const module_vec *modules,
	       struct region *region, struct uspl_err *err)
{
	struct region_site *site;
	int rc = gates_open(gates, proc, modules, region, err);

	if (rc)
		return rc;
	if (!region->gates)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the new code lies out of reach of gates");
	if (region->sites.n > SITES_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "more than %d functions change",
				 SITES_MAX);
	vec_for_each (&region->sites, site) {
		if (!rc)
			rc = gates_add(gates, site, err);
		if (!rc)
			rc = plan_entry(gates, site, err);
	}
	return rc;
}

void gates_release(struct gates *gates)
{
	pads_release(&gates->pads);
	vec_release(&gates->items);
}

int gates_load(struct gates *gates, struct uspl_err *err)
{
	const struct proc *proc = gates->pads.proc;
	const struct gate *gate;
	int rc = pads_map(&gates->pads, gates_slate(gates->region), err);

	/*
	 * From now on the pages are known to be pads'. A tool that dies before leaves a free page.
	 */
	if (!rc)
		rc = region_write_record(proc, gates->region, err);
	vec_for_each (&gates->items, gate)
		if (!rc)
			rc = pads_write_once(proc, gate_address(gates->region, gate->site),
					     gate->code, GATE_LEN, err);
	return rc ? rc : pads_write(&gates->pads, err);
}
