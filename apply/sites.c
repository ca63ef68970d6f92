// SPDX-License-Identifier: GPL-3.0-or-later
// sites.c - which entries of a module an update redirects, and which code must be empty for that

#include "apply/sites.h"

#include <string.h>

#include "arch/arch.h"
#include "base/buf.h"
#include "record/detours.h"
#include "record/overlay.h"
#include "record/owners.h"
#include "switch/entries.h"

/* The longest instruction, for looking at padding. */
#define INSN_MAX 15

/* How long the instruction or filler at addr is if it does nothing; 0 if it does something. */
static size_t padding_at(const struct image *image, taddr addr)
{
	const uint8_t *bytes = image_bytes(image, addr, 1);
	size_t left = INSN_MAX;
	struct insn insn;

	if (!bytes)
		return 0;
	if (*bytes == 0)
		return 1;
	while (left > 1 && !image_bytes(image, addr, left))
		left--;
	if (!arch_native()->insn_decode(bytes, left, &insn))
		return 0;
	return insn.is_nop || insn.flow == INSN_TRAP ? insn.len : 0;
}

/*
 * How many bytes may be written over the function's entry, at most the jump's: its own, and what
 * follows if that is padding up to the next one.
 */
static uint8_t room_at(const struct image *image, const struct match_func *func)
{
	taddr at = func->addr + func->len, end = func->addr + arch_native()->jump_len;
	const struct image_sym *sym;

	if (at >= end)
		return arch_native()->jump_len;
	vec_for_each (&image->syms, sym)
		if (sym->type == STT_FUNC && sym->addr > func->addr && sym->addr < end)
			end = sym->addr;
	while (at < end) {
		size_t len = padding_at(image, at);

		if (!len)
			return (uint8_t)(at - func->addr);
		at += len;
	}
	return (uint8_t)(end - func->addr);
}

/*
 * Does a branch within the function lead to its first instruction? Then a thread that stands there
 * may be in the middle of the function. Code that can't be decoded counts as such a loop.
 */
static bool loops_to_entry(const struct image *image, const struct match_func *func)
{
	const uint8_t *code = image_bytes(image, func->addr, func->len);
	struct insn insn;

	for (size_t at = 0; at < func->len; at += insn.len) {
		if (!code || !arch_native()->insn_decode(code + at, func->len - at, &insn))
			return true;
		if ((insn.flow == INSN_JUMP || insn.flow == INSN_COND_JUMP) &&
		    at + insn.len + (uint64_t)insn.rel == 0)
			return true;
	}
	return false;
}

/* Code that must be empty, with the detours that it goes through. */
static int add_range(const struct sites_input *input, struct region *region, const char *name,
		     const struct match_func *func, struct uspl_err *err)
{
	int rc = region_range_add(&region->ranges, name, func->addr, func->len, err);

	if (rc)
		return rc;
	return detours_add_ranges(input->image, input->present, name, func->addr, func->len,
				  &region->ranges, err);
}

/* The code at a site that must be empty: the first byte, too, if a loop leads to it. */
static int size_site(const struct sites_input *input, const struct match_func *func,
		     struct region *region, struct region_site *site, struct uspl_err *err)
{
	uint64_t size = func->len > site->len ? func->len : site->len;

	if (site->addr != func->addr) {
		/* An earlier update's jump; its code is a range. */
		site->old_size = site->len;
		return add_range(input, region, site->name, func, err);
	}
	if (!loops_to_entry(input->image, func)) {
		site->old_size = size;
		return 0;
	}
	site->old_size = 0;
	return region_range_add(&region->ranges, site->name, func->addr, size, err);
}

static int add_site(const struct sites_input *input, const struct owners *owners,
		    const struct update_function *function, struct region *region,
		    struct uspl_err *err)
{
	const struct match_func *func;
	const struct region_site *other;
	struct region_site *site;
	taddr entry;
	int rc = match_require(input->match, function->symbol, &func, err);

	if (rc)
		return rc;
	entry = region_entry_place(input->present, image_entry(input->image, func->addr));
	vec_for_each (&region->sites, other)
		if (region_site_entry(other) == entry)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "'%s' and '%s' are one function in the running program",
					 other->name, function->name);
	site = vec_push(&region->sites);
	if (!site)
		return uspl_fail_nomem(err);
	site->name = strdup(function->name);
	site->addr = entry;
	site->len = entry == func->addr ? room_at(input->image, func) : arch_native()->jump_len;
	if (!site->name)
		return uspl_fail_nomem(err);
	rc = size_site(input, func, region, site, err);
	if (rc)
		return rc;
	rc = proc_read(input->proc, site->addr, site->old_bytes, site->len, err);
	if (rc)
		return rc;
	return owners_adopt_site(owners, site, err);
}

/* What match_funcs_of hands to add_part. */
struct parts {
	const struct sites_input *input;
	struct region *region;
	const struct update_function *function;
	struct uspl_err *err;
	int rc;
};

/* Everything of a function but its entry part, which is a site. */
static void add_part(const struct match_func *func, void *ctx)
{
	struct parts *parts = ctx;

	if (!parts->rc && strcmp(func->name, parts->function->symbol))
		parts->rc = add_range(parts->input, parts->region, parts->function->name, func,
				      parts->err);
}

/* True if something that the new code needs lies in the older update's code or data. */
static bool builds_on(const struct sites_input *input, const struct region *older)
{
	const struct update_function *function;
	const struct match_func *func;
	struct detours_variable variable;
	taddr value;

	vec_for_each (&input->target->functions, function)
		if (match_require(input->match, function->symbol, &func, NULL) == 0 &&
		    overlay_holds(older, func->addr))
			return true;
	for (size_t i = 0; i < input->target->new_code->syms.n; i++) {
		const struct objsym *sym = input->target->new_code->syms.items[i];

		if (match_value(input->match, sym->name, &value) &&
		    (overlay_holds(older, value) ||
		     (detours_variable(input->image, input->present, value, &variable) &&
		      variable.region == older)))
			return true;
	}
	return false;
}

int sites_find(const struct sites_input *input, struct region *region, struct uspl_err *err)
{
	auto_owners struct owners *owners = NULL;
	const struct update_function *function;
	const struct region_site *site;
	auto_buf struct buf older_ids = { 0 };
	const struct region *older;
	int rc = owners_read(input->proc, &owners, err);

	if (rc)
		return rc;
	vec_for_each (&input->target->functions, function) {
		struct parts parts = { input, region, function, err, 0 };

		rc = add_site(input, owners, function, region, err);
		if (rc)
			return rc;
		match_funcs_of(input->match, function->symbol, add_part, &parts);
		if (parts.rc)
			return parts.rc;
	}
	entries_cut(region);
	vec_for_each (&region->sites, site) {
		rc = owners_refuse_at(owners, site, err);
		if (rc)
			return rc;
	}
	rc = entries_check(input->present, region, err);
	if (rc)
		return rc;
	vec_for_each (input->present, older)
		if (region_is_live(older) &&
		    (builds_on(input, older) || entries_lean_on(region, older)))
			buf_addf(&older_ids, "%s%s", older_ids.len ? " " : "", older->id);
	region->builds_on = strdup(buf_str(&older_ids));
	return region->builds_on && !older_ids.oom ? 0 : uspl_fail_nomem(err);
}
