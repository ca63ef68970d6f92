// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_seed.c - a constant that becomes a variable
 *
 * The fix of a hash table that attackers could fill with colliding keys gives it a random seed
 * where it had a constant. New code would look for keys at places where old code didn't put them.
 * Nothing in types or values shows that. What does show:
 *
 *  - a function that is replaced had a constant that a programmer chose: neither small nor a mask
 *    nor an address,
 *  - no new code of its unit has it any more, and
 *  - the new function reads a new variable, itself or by way of new functions that it calls.
 *
 * If something was computed with the constant, or it was handed on to another function of the
 * program, and the variable doesn't begin with it, then what comes of it is another thing from one
 * moment to the next: that is refused. A constant that was only compared, stored or given to a
 * library is a limit, a time or a flag, and worth a warning.
 *
 * A seed that moves into a structure which exists already isn't seen.
 */

#include <string.h>

#include "arch/arch.h"
#include "create/unit/answer.h"
#include "create/unit/reference.h"
#include "create/unit/report_warn.h"
#include "create/unit/srcloc.h"
#include "create/vet/seed_flow.h"
#include "create/vet/vet_checks.h"
#include "objfile/disasm.h"

/* Sizes, flags, characters and offsets are smaller. */
enum { SMALL = 0xffff };
/* Calls that are followed from a replaced function into new ones. */
enum { MAX_DEPTH = 4 };

/* Decodes the instruction at a place; false at the end, or if there is none. */
static bool decode(const struct objsec *sec, uint64_t at, struct insn *insn)
{
	return at < sec->size && sec->data &&
	       arch_native()->insn_decode(sec->data + at, sec->size - at, insn) && insn->len;
}

/*
 * The immediate operand of an instruction that a linker doesn't fill in, as it stands there; else
 * 0.
 */
static uint64_t immediate(const struct objsec *sec, uint64_t at, const struct insn *insn)
{
	uint64_t value = 0;

	if (insn->flow != INSN_PLAIN || !insn->imm_size || insn->imm_size > sizeof(value) ||
	    reference_within(sec, at + insn->imm_off, insn->imm_size))
		return 0;
	memcpy(&value, sec->data + at + insn->imm_off, insn->imm_size);
	return value;
}

static bool is_mask(uint64_t value)
{
	return !(value & (value - 1)) || !(value & (value + 1));
}

/* Is it a number that a programmer chose? `size`: in bytes. */
static bool is_chosen(uint64_t value, uint8_t size)
{
	uint64_t all = size < sizeof(value) ? ((uint64_t)1 << (8 * size)) - 1 : UINT64_MAX;
	uint64_t negative = (0 - value) & all;

	return value > SMALL && negative > SMALL && !is_mask(value) && !is_mask(negative);
}

static bool new_code_has(const struct unit *unit, uint64_t value)
{
	struct insn insn;

	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];

		if (secinfo_of(sec)->kind != SECINFO_CODE || !secinfo_of(sec)->carried)
			continue;
		for (uint64_t at = 0; decode(sec, at, &insn); at += insn.len)
			if (immediate(sec, at, &insn) == value)
				return true;
	}
	return false;
}

/* A constant of old code. */
struct constant {
	uint64_t value; /* 0: there is none */
	uint8_t size;
	bool flows_on; /* seed_flow.h */
};

/*
 * The constant of old code that a programmer chose and new code hasn't: the first one with which
 * something is computed, or else the first one.
 */
static struct constant lost_constant(const struct diff *diff, const struct unit *unit,
				     const struct objsec *old)
{
	struct constant found = { 0 };
	struct insn insn;

	for (uint64_t at = 0; !found.flows_on && decode(old, at, &insn); at += insn.len) {
		uint64_t value = immediate(old, at, &insn);
		bool flows_on;

		if (!is_chosen(value, insn.imm_size) || new_code_has(unit, value))
			continue;
		flows_on = seed_flows_on(diff, old, at);
		if (!found.value || flows_on)
			found = (struct constant){ value, insn.imm_size, flows_on };
	}
	return found;
}

/* Does a variable begin with the constant? Then all goes on as before, until something sets it. */
static bool begins_with(const struct objsym *variable, const struct constant *constant)
{
	const uint8_t *data = variable->sec->data;

	return data && variable->size >= constant->size &&
	       !memcmp(data + variable->value, &constant->value, constant->size);
}

/* Does an instruction read the memory that rel refers to, rather than take its address? */
static bool is_read(const struct objsec *sec, uint64_t at, const struct insn *insn,
		    const struct objrel *rel)
{
	char text[160];

	if (!insn->disp_size || rel->offset != at + insn->disp_off)
		return false;
	disasm_insn(sec->data + at, sec->size - at, 0, text, sizeof(text));
	return (disasm_targets_register(text) && strncmp(text, "lea", 3) != 0) ||
	       !strncmp(text, "cmp", 3) || !strncmp(text, "test", 4);
}

/* A new variable that code reads, or new functions that it calls; NULL if there is none. */
static const struct objsym *read_variable(const struct diff *diff, const struct objsec *sec,
					  int depth)
{
	const struct objsym *found = NULL;
	struct insn insn;

	for (uint64_t at = 0; !found && decode(sec, at, &insn); at += insn.len) {
		const struct objrel *rel = reference_within(sec, at, insn.len);
		const struct objsym *def = NULL;

		if (rel)
			def = rel->sym->sec ? rel->sym
					    : strmap_get(&diff->post_defs, rel->sym->name);
		/* What is new: a variable that may be written, or a function. */
		if (!def || !def->sec || def->type == STT_SECTION || syminfo_of(def)->twin)
			continue;
		if (sym_is_function(def) && depth < MAX_DEPTH)
			found = read_variable(diff, def->sec, depth + 1);
		else if (sym_is_variable(def) && secinfo_of(def->sec)->kind == SECINFO_DATA &&
			 is_read(sec, at, &insn, rel))
			found = def;
	}
	return found;
}

static int refuse(const struct objsec *sec, uint64_t value, const struct objsym *variable,
		  struct uspl_err *err)
{
	int rc = sec_refuse(sec, err, USPL_E_DATA_CHANGE,
			    "'%s' no longer computes with the constant 0x%llx, and reads the new "
			    "variable '%s', which doesn't begin with it: what the process keeps "
			    "that was computed with the constant (places in a hash table, "
			    "checksums) doesn't fit what is computed now",
			    sec_title(sec), (unsigned long long)value, variable->name);

	uspl_hint(err,
		  "leave the constant to what exists already, or see to that by a hook, and "
		  "say USPL_ANSWERS(%s)",
		  variable->name);
	return rc;
}

int vet_seeds(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct secinfo *secinfo = secinfo_of(sec);
		const struct objsym *twin = secinfo_twin(secinfo);
		const struct objsym *variable;
		auto_buf struct buf place = { 0 };
		struct constant lost;

		if (secinfo->kind != SECINFO_CODE || !secinfo->carried || !twin || !twin->sec)
			continue;
		lost = lost_constant(diff, unit, twin->sec);
		variable = lost.value ? read_variable(diff, sec, 0) : NULL;
		if (!variable || answer_given_for(diff, variable))
			continue;
		if (lost.flows_on && !begins_with(variable, &lost))
			return refuse(sec, lost.value, variable, err);
		if (lost.flows_on)
			report_warn(diff->report,
				    "%s: '%s' no longer has the constant 0x%llx, and reads the new "
				    "variable '%s', which begins with it: when that is set to "
				    "something else, what the process keeps that was computed with "
				    "the constant (places in a hash table, checksums) doesn't fit "
				    "any more",
				    sec_srcloc(sec, &place), sec_title(sec),
				    (unsigned long long)lost.value, variable->name);
		else if (!begins_with(variable, &lost))
			report_warn(diff->report,
				    "%s: '%s' no longer has the constant 0x%llx, and reads the new "
				    "variable '%s', which begins with another value: what sets it "
				    "at the program's start has run already",
				    sec_srcloc(sec, &place), sec_title(sec),
				    (unsigned long long)lost.value, variable->name);
	}
	return 0;
}
