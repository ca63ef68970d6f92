// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_label.c - what the process may have kept the address of: labels, and constants that change
 *
 * gcc's `&&label` gives the address of a place in a function. Coroutines that are made of it
 * (`state = &&resume; return`, and `goto *state` at the next call) keep it while nothing of the
 * function is on a stack. New code that jumps there comes into the old function, with a frame that
 * isn't the old one's. Where the code itself takes a label's address, a variable got it: that is
 * refused. A table of labels mostly belongs to an interpreter that looks up each step anew. An
 * interpreter that has put labels into what it interprets can't be told from it: so there is a
 * warning.
 *
 * A table of the compiler's own, for a switch, has no name, and only the switch reads it.
 *
 * A constant structure or table that changes is replaced for the code that uses it. Where the
 * process has kept an address, it is the old one's; and where it has kept the number of an entry,
 * another entry may have it now.
 */

#include <dwarf.h>
#include <string.h>

#include "arch/arch.h"
#include "create/unit/dbgtype.h"
#include "create/unit/equal.h"
#include "create/unit/reference.h"
#include "create/unit/report_warn.h"
#include "create/unit/srcloc.h"
#include "create/unit/unit.h"
#include "create/vet/vet_checks.h"

/* Does the instruction take the address of a place in its own function? */
static bool takes_label(const struct objsec *sec, uint64_t at, const struct insn *insn)
{
	int32_t distance;

	if (insn->flow != INSN_PLAIN)
		return false;
	for (size_t i = vec_lower_bound(&sec->rels, it, it->offset < at);
	     i < sec->rels.n && sec->rels.items[i].offset < at + insn->len; i++) {
		const struct objsym *sym = sec->rels.items[i].sym;

		if (sym->type == STT_SECTION && sym->sec &&
		    (sym->sec == sec || sym->sec == secinfo_of(sec)->other))
			return true;
	}
	if (!insn->pc_relative_mem || insn->disp_size != sizeof(distance) ||
	    reference_within(sec, at + insn->disp_off, insn->disp_size))
		return false;
	memcpy(&distance, sec->data + at + insn->disp_off, sizeof(distance));
	/* Code for any distance counts from there to find its data. */
	return !reference_begins_got(sec, (int64_t)(at + insn->len) + distance);
}

static bool jumps_to_label(const struct objsec *sec, uint64_t at, const struct insn *insn)
{
	return insn->flow == INSN_JUMP_INDIRECT && !reference_within(sec, at, insn->len);
}

/* True if there is such an instruction, before the first one that can't be decoded. */
static bool has_insn(const struct objsec *sec,
		     bool (*is_wanted)(const struct objsec *sec, uint64_t at,
				       const struct insn *insn))
{
	struct insn insn;

	if (!sec || !sec->data)
		return false;
	for (uint64_t at = 0; at < sec->size; at += insn.len) {
		if (!arch_native()->insn_decode(sec->data + at, sec->size - at, &insn) || !insn.len)
			return false;
		if (is_wanted(sec, at, &insn))
			return true;
	}
	return false;
}

int vet_labels(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct secinfo *secinfo = secinfo_of(sec);
		const struct objsym *twin = secinfo_twin(secinfo);
		const struct objsec *old = twin ? twin->sec : NULL;

		if (secinfo->kind != SECINFO_CODE || !secinfo->reason || secinfo->is_cold || !old ||
		    (!has_insn(old, takes_label) &&
		     !has_insn(secinfo_of(old)->other, takes_label)) ||
		    (!has_insn(sec, jumps_to_label) && !has_insn(secinfo->other, jumps_to_label)))
			continue;
		sec_refuse(sec, err, USPL_E_DATA_CHANGE,
			   "'%s' changes, and keeps addresses of its own labels: the process may "
			   "go on at one of the old code",
			   sec_title(sec));
		uspl_hint(err, "leave it as it is, and put what is new into a function that it "
			       "calls");
		return -USPL_E_DATA_CHANGE;
	}
	return 0;
}

/* How many entries an array has, in its first dimension; 1 for a structure; 0 for all else. */
static uint64_t entries_of(const struct objsym *sym)
{
	struct dbginfo *dbg = side_dbginfo(syminfo_of(sym)->side);
	Dwarf_Die die, type;

	if (!dbg || !dbginfo_find(dbg, sym, &die) || !dbgtype_of(&die, &type) ||
	    !dbgtype_peel(&type, &type))
		return 0;
	if (dbgtype_is_aggregate(&type))
		return 1;
	if (dwarf_tag(&type) != DW_TAG_array_type)
		return 0;
	for (bool has = !dwarf_child(&type, &die); has; has = !dwarf_siblingof(&die, &die))
		if (dwarf_tag(&die) == DW_TAG_subrange_type)
			return dbgtype_dimension(&die);
	return 0;
}

/* Is the entry at `from` of the old table what the new one has at `to`? */
static bool same_entry(const struct objsym *old, const struct objsym *sym, uint64_t size,
		       uint64_t from, uint64_t to)
{
	struct range a = { old->sec, old->value + from * size, size };
	struct range b = { sym->sec, sym->value + to * size, size };

	return equal_ranges(&a, &b, 0);
}

/* Entries of the old table that are looked for in the new one, the first ones that differ. */
enum { MAX_SOUGHT = 64 };

/*
 * Does an entry stand at another place of the new table, where another one was? The first such one,
 * and where it is now.
 */
static bool find_moved(const struct objsym *old, const struct objsym *sym, uint64_t *ret_from,
		       uint64_t *ret_to)
{
	uint64_t n = entries_of(sym), size = n ? sym->size / n : 0;
	uint64_t n_old = size ? old->size / size : 0;
	int sought = 0;

	for (uint64_t i = 0; i < n_old && sought < MAX_SOUGHT; i++) {
		if (i < n && same_entry(old, sym, size, i, i))
			continue;
		sought++;
		for (uint64_t k = 0; k < n; k++) {
			if (k == i || !same_entry(old, sym, size, i, k) ||
			    (k < n_old && same_entry(old, sym, size, k, k)))
				continue;
			*ret_from = i;
			*ret_to = k;
			return true;
		}
	}
	return false;
}

static void warn_of_table(const struct diff *diff, const struct objsym *sym)
{
	uint64_t from, to;
	auto_buf struct buf place = { 0 };

	if (find_moved(syminfo_of(sym)->twin, sym, &from, &to))
		report_warn(diff->report,
			    "%s: the constant '%s' changes, and the entry %llu is entry %llu now: "
			    "where the process has kept such a number, it means another one; "
			    "where it has kept an address, the old table goes on, and isn't the "
			    "same",
			    sym_srcloc(sym, &place), sym->name, (unsigned long long)from,
			    (unsigned long long)to);
	else
		report_warn(diff->report,
			    "%s: the constant '%s' changes, and new code has one of its own: where "
			    "the process has kept its address, the old one goes on, and isn't the "
			    "same",
			    sym_srcloc(sym, &place), sym->name);
}

int vet_warn_addresses(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)err;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct objsec *function = NULL;
		const struct objrel *rel;
		auto_buf struct buf place = { 0 };

		if (!sym->sec || !sym_is_variable(sym) || !syminfo_of(sym)->twin ||
		    secinfo_of(sym->sec)->kind != SECINFO_CONST || !secinfo_of(sym->sec)->reason)
			continue;
		/* A table of the programmer's may point into a function. */
		vec_for_each (&sym->sec->rels, rel)
			if (!function && rel->sym->sec && rel->sym->type == STT_SECTION &&
			    secinfo_of(rel->sym->sec)->kind == SECINFO_CODE)
				function = rel->sym->sec;
		if (function)
			report_warn(diff->report,
				    "%s: '%s' changes, and '%s' has addresses of its labels: if "
				    "the process has put some of them elsewhere, it goes on in the "
				    "old code there",
				    sec_srcloc(function, &place), sec_title(function), sym->name);
		else if (entries_of(sym))
			warn_of_table(diff, sym);
	}
	return 0;
}
