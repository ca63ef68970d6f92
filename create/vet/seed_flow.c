// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * seed_flow.c - what a function does with a constant
 *
 * The constant is followed by the words of the disassembler, from the instruction that has it
 * downwards: into registers and places on the stack, until these get another value. Branches aren't
 * followed: what a loop computes with it stands behind the place where it is set.
 */

#include "create/vet/seed_flow.h"

#include <string.h>

#include "arch/arch.h"
#include "arch/probe_code.h"
#include "base/text.h"
#include "create/unit/reference.h"
#include "create/unit/unit.h"
#include "objfile/disasm.h"
#include "uspl/listen_abi.h"

enum { MAX_OPERANDS = 4, MAX_HOLDERS = 16, N_ARGUMENTS = 6, RESULT = 6 };

/* An instruction in words, as they are in AT&T's order: the last operand is the target. */
struct words {
	char name[16];
	struct place operands[MAX_OPERANDS]; /* what isn't understood is a number */
	size_t n;
};

/* Where the constant is. */
struct holders {
	struct place places[MAX_HOLDERS];
	size_t n;
};

static void read_operand(const char *text, struct words *words)
{
	struct place place = { .kind = PLACE_NUMBER };
	struct uspl_err why;

	if (words->n == MAX_OPERANDS)
		return;
	if (place_parse(&text, &place, &why) != 0)
		place = (struct place){ .kind = PLACE_NUMBER };
	free(take_ptr(place.symbol));
	words->operands[words->n++] = place;
}

/* Reads "xor %eax,-0x8(%rbp,%rax,4)". */
static bool read_words(const struct objsec *sec, uint64_t at, struct words *ret)
{
	char text[160], *p = text, *from;
	int depth = 0;

	*ret = (struct words){ 0 };
	if (!disasm_insn(sec->data + at, sec->size - at, at, text, sizeof(text)))
		return false;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)strcspn(text, " "), text);
	p += strcspn(text, " ");
	p += *p == ' ';
	for (from = p; *p && *p != ' '; p++) {
		depth += (*p == '(') - (*p == ')');
		if (*p != ',' || depth)
			continue;
		*p = '\0';
		read_operand(from, ret);
		from = p + 1;
	}
	*p = '\0';
	if (*from)
		read_operand(from, ret);
	return true;
}

static bool is_same(const struct place *a, const struct place *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == PLACE_MEMORY)
		return a->has_base && b->has_base && a->reg == b->reg && a->number == b->number &&
		       !a->scale && !b->scale;
	return a->kind != PLACE_NUMBER && a->reg == b->reg;
}

static bool holds(const struct holders *holders, const struct place *place)
{
	for (size_t i = 0; i < holders->n; i++)
		if (is_same(&holders->places[i], place))
			return true;
	return false;
}

static void let_go(struct holders *holders, const struct place *place)
{
	size_t n = 0;

	for (size_t i = 0; i < holders->n; i++)
		if (!is_same(&holders->places[i], place))
			holders->places[n++] = holders->places[i];
	holders->n = n;
}

static void take(struct holders *holders, const struct place *place)
{
	if (place->kind != PLACE_NUMBER && holders->n < MAX_HOLDERS && !holds(holders, place))
		holders->places[holders->n++] = *place;
}

/* Is one of a call's arguments the constant, or its result? */
static bool holds_value(const struct holders *holders, uint16_t first, uint16_t end)
{
	for (uint16_t i = first; i < end; i++) {
		const struct call_place from = { USPL_LISTEN_REG, i };
		struct place place;

		if (place_of_value(&from, 8, &place) && holds(holders, &place))
			return true;
	}
	return false;
}

static void let_arguments_go(struct holders *holders)
{
	for (uint16_t i = 0; i <= RESULT; i++) {
		const struct call_place from = { USPL_LISTEN_REG, i };
		struct place place;

		if (place_of_value(&from, 8, &place))
			let_go(holders, &place);
	}
}

/* Does a call or jump lead to a function of the program's own? */
static bool leads_to_own(const struct diff *diff, const struct objsec *code, uint64_t at,
			 uint64_t len)
{
	const struct linked *linked = diff->left_out.linked;
	const struct objrel *rel = reference_within(code, at, len);

	return rel && (rel->sym->sec || strmap_get(&diff->pre_defs, rel->sym->name) ||
		       (linked && strmap_get(&linked->names, rel->sym->name)));
}

/* What copies, and what sets flags, masks bits or puts on the stack, computes nothing. */
static bool is_copy(const char *name)
{
	static const char *const copies[] = { "mov", "cmov", "vmov" };

	return TEXT_STARTS_WITH_ONE_OF(name, copies);
}

static bool computes(const char *name)
{
	static const char *const others[] = { "cmp", "test", "bt", "and", "or", "push", "nop" };

	return !is_copy(name) && !TEXT_STARTS_WITH_ONE_OF(name, others);
}

static bool has_holder(const struct words *words, const struct holders *holders)
{
	for (size_t i = 0; i < words->n; i++) {
		const struct place *place = &words->operands[i];
		const struct place base = { .kind = PLACE_REGISTER, .reg = place->reg };
		const struct place index = { .kind = PLACE_REGISTER, .reg = place->index };

		if (holds(holders, place))
			return true;
		if (!strncmp(words->name, "lea", 3) && place->kind == PLACE_MEMORY &&
		    ((place->has_base && holds(holders, &base)) ||
		     (place->scale && holds(holders, &index))))
			return true;
	}
	return false;
}

/* One instruction; true if something is computed with the constant. */
static bool follow(const struct words *words, struct holders *holders)
{
	const struct place *target = words->n ? &words->operands[words->n - 1] : NULL;
	/* `xor %eax,%eax` sets it to zero, whatever it was. */
	bool clears = words->n == 2 && is_same(&words->operands[0], &words->operands[1]) &&
		      (strstr(words->name, "xor") || strstr(words->name, "sub"));

	if (!target)
		return false;
	if (is_copy(words->name)) {
		bool taken = words->n == 2 && holds(holders, &words->operands[0]);

		let_go(holders, target);
		if (taken)
			take(holders, target);
		return false;
	}
	if (!clears && computes(words->name) && has_holder(words, holders))
		return true;
	if (computes(words->name) || words->name[0] == 'a' || words->name[0] == 'o')
		let_go(holders, target);
	return false;
}

bool seed_flows_on(const struct diff *diff, const struct objsec *code, uint64_t at)
{
	struct holders holders = { 0 };
	struct words words;
	struct insn insn;

	if (!read_words(code, at, &words) || !words.n || computes(words.name))
		return words.n && computes(words.name);
	if (!is_copy(words.name))
		return false;
	take(&holders, &words.operands[words.n - 1]);
	for (bool first = true; holders.n && at < code->size; at += insn.len, first = false) {
		if (!arch_native()->insn_decode(code->data + at, code->size - at, &insn) ||
		    !insn.len)
			return false;
		if (first)
			continue;
		switch (insn.flow) {
		case INSN_RETURN:
			if (holds_value(&holders, RESULT, RESULT + 1))
				return true;
			break;
		case INSN_CALL:
		case INSN_JUMP:
			if (leads_to_own(diff, code, at, insn.len) &&
			    holds_value(&holders, 0, N_ARGUMENTS))
				return true;
			if (insn.flow == INSN_CALL)
				let_arguments_go(&holders);
			break;
		case INSN_CALL_INDIRECT:
			let_arguments_go(&holders);
			break;
		case INSN_PLAIN:
			if (read_words(code, at, &words) && follow(&words, &holders))
				return true;
			break;
		default:
			break;
		}
	}
	return false;
}
