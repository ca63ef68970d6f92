// SPDX-License-Identifier: GPL-3.0-or-later
// entries.c - entries that have to lead by way of a punned trampoline
/*
 * A short entry has several forms (arch/trampoline.h, struct short_jump), each with its own places
 * for a punned trampoline, from a single one to some million. The punned jump, which changes a
 * single byte, comes first: with it the stopless way is possible. Sites are planned from the
 * highest address down, since a site's bytes may be part of the jumps before it, and not the other
 * way round.
 *
 * Where several entries share bytes they must change together: a tool that dies between two of them
 * would leave a jump to anywhere. One write within a page is made as a whole (the kernel copies a
 * page at a time), so entries that share bytes across two pages are refused, and the stopless way,
 * which changes entries one by one, isn't used.
 */

#include "switch/entries.h"

#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"
#include "record/owners.h"

void entries_cut(struct region *region)
{
	uint8_t most = (uint8_t)(arch_native()->jump_len - 1);
	const struct region_site *site;
	struct region_site *other;
	bool cut;

	do {
		cut = false;
		vec_for_each (&region->sites, site)
			vec_for_each (&region->sites, other)
				if (other->addr > site->addr && other->len > most &&
				    region_site_leans_on(site, other->addr, other->len)) {
					other->len = most;
					cut = true;
				}
	} while (cut);
}

bool entries_lean_on(const struct region *region, const struct region *older)
{
	const struct region_site *site, *theirs;

	vec_for_each (&region->sites, site)
		vec_for_each (&older->sites, theirs)
			if (theirs->addr != site->addr &&
			    region_site_leans_on(site, theirs->addr, theirs->len))
				return true;
	return false;
}

int entries_check(const region_vec *present, const struct region *region, struct uspl_err *err)
{
	const struct region_site *site, *used_by;
	const struct region *user, *older;

	vec_for_each (&region->sites, site) {
		user = region_entry_user(present, site->addr, site->len, &used_by);
		if (!user || region_has_id(user, region->id))
			continue;
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "the first bytes of '%s' are part of the jump that update '%s' has "
			  "written over the short function '%s'",
			  site->name, user->id, used_by->name);
		uspl_hint(err, "undo '%s' first, or make one update of both changes", user->id);
		return -USPL_E_UNSUPPORTED;
	}
	vec_for_each (present, older)
		if (region_is_interrupted(older) && !region_has_id(older, region->id) &&
		    entries_lean_on(region, older))
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "update '%s', which changes a function next to one that "
					 "this update changes, was interrupted",
					 older->id);
	return 0;
}

/*
 * The bytes at a short entry as they will be when all of the update's entries are written.
 * *ret_shared: some are other entries'.
 */
static int read_around(const struct proc *proc, const struct region *region,
		       const struct region_site *site, uint8_t code[SHORT_JUMP_MAX],
		       bool *ret_shared, struct uspl_err *err)
{
	const struct region_site *other;
	int rc = proc_read(proc, site->addr, code, SHORT_JUMP_MAX, err);

	*ret_shared = false;
	if (rc)
		return rc;
	vec_for_each (&region->sites, other) {
		if (rc || other->addr <= site->addr ||
		    !region_site_leans_on(site, other->addr, other->len))
			continue;
		if ((other->addr + other->len - 1) / PAGE != site->addr / PAGE)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "'%s' and '%s' have so little room that they can only be "
					 "changed together, and lie in two pages",
					 site->name, other->name);
		for (size_t i = 0; i < other->len; i++)
			if (other->addr + i - site->addr < SHORT_JUMP_MAX)
				code[other->addr + i - site->addr] = other->new_bytes[i];
		*ret_shared = true;
	}
	return 0;
}

static taddr leads_to(const struct trampolines *trampolines, const struct region_site *site)
{
	return trampolines->region->trampolines ? trampoline_address(trampolines->region, site)
						: site->new_addr;
}

/* A punned trampoline in [lowest, highest], preferably where an earlier one still is. */
static int place_between(struct trampolines *trampolines, struct region_site *site, taddr lowest,
			 taddr highest, struct uspl_err *err)
{
	taddr to = leads_to(trampolines, site), at = lowest;

	if (site->punned_len && site->punned >= lowest && site->punned <= highest &&
	    punned_add(&trampolines->punned, site, site->punned, to, NULL) == 0)
		return 0;
	while (at <= highest) {
		int rc = punned_add(&trampolines->punned, site, at, to, err);

		if (rc != -USPL_E_UNSUPPORTED)
			return rc;
		at = punned_next(&trampolines->punned, at);
	}
	return -USPL_E_UNSUPPORTED;
}

static int plan_short(struct trampolines *trampolines, struct region_site *site,
		      struct uspl_err *err)
{
	auto_owners struct owners *owners = NULL;
	size_t own = site->len;
	struct short_jump jump;
	uint8_t code[SHORT_JUMP_MAX];
	bool shared;
	int rc = read_around(trampolines->punned.proc, trampolines->region, site, code, &shared,
			     err);

	if (rc)
		return rc;
	/* Jumps of other owners come and go. */
	rc = owners_read(trampolines->punned.proc, &owners, err);
	if (rc)
		return rc;
	rc = owners_refuse_behind(owners, site, err);
	if (rc)
		return rc;
	if (trampolines->region->trampolines) {
		rc = trampolines_add(trampolines, site, err);
		if (rc)
			return rc;
	}
	rc = uspl_fail(err, USPL_E_UNSUPPORTED, "no such jump leads to an address");
	for (unsigned int form = 0;
	     rc == -USPL_E_UNSUPPORTED && trampoline_short_form(site->addr, code, own, form, &jump);
	     form++) {
		if (jump.lowest > jump.highest)
			continue;
		rc = place_between(trampolines, site, jump.lowest, jump.highest, err);
	}
	if (rc) {
		uspl_context(err, "'%s' is only %zu bytes long", site->name, own);
		return rc;
	}
	trampoline_short_aim(&jump, site->punned);
	site->len = jump.len;
	memcpy(site->new_bytes, jump.bytes, jump.len);
	site->entry = jump.len == 1 && !shared ? USPL_ENTRY_PUNNED : USPL_ENTRY_PLAIN;
	return 0;
}

static bool is_far(const struct region_site *site)
{
	uint8_t bytes[USPL_SITE_BYTES_MAX];

	return !arch_native()->jump_encode(site->addr, site->new_addr, bytes);
}

/* The highest site below `below` that has to have a punned trampoline. */
static struct region_site *next_site(const struct region *region, taddr below)
{
	struct region_site *site, *best = NULL;

	vec_for_each (&region->sites, site)
		if (site->addr < below && (region_site_is_short(site) || is_far(site)) &&
		    (!best || site->addr > best->addr))
			best = site;
	return best;
}

int entries_plan(struct trampolines *trampolines, const struct proc *proc,
		 const module_vec *modules, struct region *region, struct uspl_err *err)
{
	struct region_site *site = next_site(region, ~0ull);
	int rc = trampolines_open(trampolines, proc, modules, region, err);

	if (rc)
		return rc;
	for (; site; site = next_site(region, site->addr)) {
		if (region_site_is_short(site)) {
			rc = plan_short(trampolines, site, err);
			if (rc)
				return rc;
			continue;
		}
		/* Anywhere within reach of the entry. */
		rc = punned_add_near(&trampolines->punned, site, leads_to(trampolines, site), err);
		site->entry = USPL_ENTRY_PLAIN;
		if (rc)
			return rc;
		if (!arch_native()->jump_encode(site->addr, site->punned, site->new_bytes))
			return uspl_fail(err, USPL_E_OUT_OF_REACH,
					 "the punned trampoline of '%s' is out of reach",
					 site->name);
	}
	return 0;
}
