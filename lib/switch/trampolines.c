// SPDX-License-Identifier: GPL-3.0-or-later
// trampolines.c - the trampolines of an update: planned, and brought into the process
/*
 * The four bytes behind an entry's first one decide where its punned trampoline must be, which may
 * be anywhere within 2 GB of the function. A page is mapped there, if the place is free, and kept
 * (punned.h): a thread may be on its way through it for as long as it likes.
 */

#include "switch/trampolines.h"

#include <string.h>

#include "arch/arch.h"
#include "inject/inject.h"

/* Each punned trampoline is compared with all others. */
#define SITES_MAX 4096

uint64_t trampolines_size(const struct region *region)
{
	return (region->sites.n * trampoline_len(region->by_thread) + PAGE - 1) / PAGE * PAGE +
	       region_selector_len(region);
}

void trampolines_place(struct region *region, taddr at)
{
	region->trampolines = at;
	region->trampolines_len = trampolines_size(region) - region_selector_len(region);
	region->selector = at + region->trampolines_len;
}

taddr trampolines_result_page(const struct region *region)
{
	_Static_assert(TRAMPOLINES_RESULT_PAGE_AT >= sizeof(struct uspl_selector) &&
			       TRAMPOLINES_RESULT_PAGE_AT + INJECT_RESULT_PAGE_LEN <=
				       USPL_SELECTOR_LEN,
		       "both have room in the page");

	return region->selector ? region->selector + TRAMPOLINES_RESULT_PAGE_AT : 0;
}

void trampolines_take_over(struct region *region, const struct region *old)
{
	for (size_t i = 0; i < region->sites.n && i < old->sites.n; i++) {
		const struct region_site *from = &old->sites.items[i];
		struct region_site *to = &region->sites.items[i];

		to->entry = from->entry;
		to->punned = from->punned;
		to->punned_len = from->punned_len;
		if (to->recorded.addr && from->recorded.addr == to->recorded.addr)
			to->recorded = from->recorded;
	}
}

taddr trampoline_address(const struct region *region, const struct region_site *site)
{
	return region->trampolines +
	       (taddr)(site - region->sites.items) * trampoline_len(region->by_thread);
}

void trampolines_make_direct(const region_vec *regions, taddr entry, uint8_t *bytes)
{
	const struct arch *arch = arch_native();
	taddr from = arch->jump_target(entry, bytes, arch->jump_len);
	const struct region_site *site;
	const struct region *region;

	vec_for_each (regions, region)
		vec_for_each (&region->sites, site) {
			taddr to = arch->jump_target(site->addr, site->new_bytes, site->len);

			if (from && to && region->state == USPL_REGION_APPLIED &&
			    region->trampolines && region_site_entry(site) == entry &&
			    from == trampoline_address(region, site))
				(void)arch->jump_encode(entry, to, bytes);
		}
}

static bool in_one_word(const struct region_site *site)
{
	return site->addr % 8 + site->len <= 8;
}

bool trampolines_jump(const struct region *region, const struct region_site *site,
		      uint8_t bytes[USPL_SITE_BYTES_MAX])
{
	taddr punned;

	if (region_site_is_short(site) && site->punned_len && region->trampolines) {
		memcpy(bytes, site->new_bytes, site->len);
		return true;
	}
	if (site->entry == USPL_ENTRY_PUNNED)
		return trampoline_pun_jump(site->addr, site->old_bytes, bytes, &punned);
	return site->entry == USPL_ENTRY_STORE &&
	       arch_native()->jump_encode(site->addr, trampoline_address(region, site), bytes);
}

/* By one store: all that is replaced is one instruction, so that no thread can stand inside it. */
static bool plan_store(struct region_site *site, const uint8_t *old, size_t len)
{
	struct insn insn;

	if (!in_one_word(site) || !arch_native()->insn_decode(old, len, &insn) ||
	    insn.len < site->len)
		return false;
	site->entry = USPL_ENTRY_STORE;
	site->punned = site->punned_len = 0;
	return true;
}

/* The bytes at the entry as they were: those behind the jump are still there. */
static int read_old(const struct proc *proc, const struct region_site *site,
		    uint8_t old[TRAMPOLINE_OLD_MAX], size_t *ret_len, struct uspl_err *err)
{
	size_t len = proc_read_some(proc, site->addr, old, TRAMPOLINE_OLD_MAX);

	if (len < site->len)
		return uspl_fail(err, USPL_E_SYSTEM, "'%s' can't be read", site->name);
	memcpy(old, site->old_bytes, site->len);
	*ret_len = len;
	return 0;
}

int trampolines_open(struct trampolines *trampolines, const struct proc *proc,
		     const module_vec *modules, struct region *region, struct uspl_err *err)
{
	*trampolines = (struct trampolines){ .region = region };
	return punned_open(&trampolines->punned, proc, modules, err);
}

static int encode(const struct proc *proc, const struct region *region,
		  const struct region_site *site, uint8_t ret[TRAMPOLINE_LEN_MAX],
		  struct uspl_err *err)
{
	uint8_t old[TRAMPOLINE_OLD_MAX];
	struct trampoline_code code = {
		.at = trampoline_address(region, site),
		.selector = region->selector,
		.entry = site->addr,
		/* Of an update that is only planned it isn't known where its functions will be. */
		.new_addr = site->new_addr ? site->new_addr : region->text,
		.old = old,
		.by_thread = region->by_thread,
	};
	int rc = read_old(proc, site, old, &code.old_len, err);

	return rc ? rc : trampoline_encode(&code, ret, err);
}

int trampolines_add(struct trampolines *trampolines, struct region_site *site, struct uspl_err *err)
{
	struct trampoline *trampoline = vec_push(&trampolines->items);
	int rc;

	if (!trampoline)
		return uspl_fail_nomem(err);
	trampoline->site = site;
	rc = encode(trampolines->punned.proc, trampolines->region, site, trampoline->code, err);
	if (rc)
		uspl_context(err, "'%s' can't have a trampoline", site->name);
	return rc;
}

bool trampoline_is_other(const struct proc *proc, const struct region *region,
			 const struct region_site *site)
{
	static const uint8_t empty[TRAMPOLINE_LEN_MAX];
	uint8_t have[TRAMPOLINE_LEN_MAX], want[TRAMPOLINE_LEN_MAX];
	size_t len = trampoline_len(region->by_thread);

	if (!region->replaces || !*region->replaces ||
	    proc_read_some(proc, trampoline_address(region, site), have, len) != len ||
	    !memcmp(have, empty, len))
		return false;
	return encode(proc, region, site, want, NULL) != 0 || memcmp(have, want, len) != 0;
}

/* How the site's entry comes to lead to its trampoline. */
static int plan_entry(struct trampolines *trampolines, struct region_site *site,
		      struct uspl_err *err)
{
	uint8_t old[TRAMPOLINE_OLD_MAX], bytes[USPL_SITE_BYTES_MAX];
	taddr punned;
	size_t old_len = 0;
	int rc = read_old(trampolines->punned.proc, site, old, &old_len, err);

	if (rc)
		return rc;
	if (region_site_is_short(site) && site->entry != USPL_ENTRY_PUNNED)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "'%s' is so short that several bytes have to change at a time",
				 site->name);
	/* That such a jump changes a single byte was found when it was made. */
	if (region_site_is_short(site))
		return punned_add(&trampolines->punned, site, site->punned,
				  trampoline_address(trampolines->region, site), err);
	/* A traced function's slot is made for it. */
	if (site->recorded.addr && plan_store(site, old, old_len))
		return 0;
	if (trampoline_pun_jump(site->addr, site->old_bytes, bytes, &punned))
		rc = punned_add(&trampolines->punned, site, punned,
				trampoline_address(trampolines->region, site), err);
	else
		rc = uspl_fail(err, USPL_E_UNSUPPORTED,
			       "the first byte of '%s' can't be made a jump", site->name);
	if (!rc)
		site->entry = USPL_ENTRY_PUNNED;
	return rc == -USPL_E_UNSUPPORTED && plan_store(site, old, old_len) ? 0 : rc;
}

int trampolines_plan(struct trampolines *trampolines, const struct proc *proc,
		     const module_vec *modules, struct region *region, struct uspl_err *err)
{
	struct region_site *site;
	int rc = trampolines_open(trampolines, proc, modules, region, err);

	if (rc)
		return rc;
	if (!region->trampolines)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the new code lies out of reach of trampolines");
	if (region->sites.n > SITES_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "more than %d functions change",
				 SITES_MAX);
	vec_for_each (&region->sites, site) {
		rc = trampolines_add(trampolines, site, err);
		if (rc)
			return rc;
		rc = plan_entry(trampolines, site, err);
		if (rc)
			return rc;
	}
	return 0;
}

void trampolines_release(struct trampolines *trampolines)
{
	punned_release(&trampolines->punned);
	vec_release(&trampolines->items);
}

int trampolines_load(struct trampolines *trampolines, struct uspl_err *err)
{
	const struct proc *proc = trampolines->punned.proc;
	const struct trampoline *trampoline;
	int rc =
		punned_map(&trampolines->punned, trampolines_result_page(trampolines->region), err);

	if (rc)
		return rc;
	/*
	 * From now on the pages are known to be punned trampolines'. A tool that dies before that
	 * leaves a free page.
	 */
	rc = region_write_record(proc, trampolines->region, err);
	if (rc)
		return rc;
	vec_for_each (&trampolines->items, trampoline) {
		rc = punned_write_once(proc,
				       trampoline_address(trampolines->region, trampoline->site),
				       trampoline->code,
				       trampoline_len(trampolines->region->by_thread), err);
		if (rc)
			return rc;
	}
	return punned_write(&trampolines->punned, err);
}
