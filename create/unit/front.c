// SPDX-License-Identifier: GPL-3.0-or-later
// front.c - leaves out room (-fpatchable-function-entry=N,M) and types in front of functions
/*
 * The compiler leaves M bytes of NOPs before a function's entry, in the function's section. No
 * thread runs them: they may have been written to since, and a function that is replaced needs
 * none. So a section begins with its function, as any other does, and what points into it counts
 * from there.
 *
 * clang's -fsanitize=function writes what type a function has, in the eight bytes before it (since
 * clang 17; before, behind the entry). Calls through pointers look there, and do without where
 * nothing of that kind stands. Pointers to a function that is replaced lead to the old one, which
 * has it.
 */

#include <string.h>

#include "arch/arch.h"
#include "create/unit/unit.h"

#define TYPE_LEN 8

/* What is known of a section before it is cut. */
struct start {
	uint64_t function; /* the lowest one's offset; the section's size if there is none */
	uint64_t other;    /* the same for any other symbol */
};

static void find_starts(const struct side *side, struct start *starts)
{
	for (size_t i = 0; i < side->obj->secs.n; i++)
		starts[i].function = starts[i].other = side->obj->secs.items[i]->size;
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		const struct objsym *sym = side->obj->syms.items[i];
		struct start *start =
			sym->sec ? &starts[secinfo_of(sym->sec) - side->secinfos] : NULL;
		uint64_t *lowest;

		if (!start || sym->type == STT_SECTION)
			continue;
		lowest = sym->type == STT_FUNC ? &start->function : &start->other;
		if (sym->value < *lowest)
			*lowest = sym->value;
	}
}

static bool is_room(const struct objsec *sec, const struct start *start)
{
	/* clang's CodeGenModule::getUBSanFunctionTypeHash and AsmPrinter::emitFunctionHeader. */
	static const uint8_t mark[] = { 0xfe, 0xca, 0x05, 0xc1 };
	uint64_t len = start->function, at = 0;
	struct insn insn;

	if (!objsec_is_code(sec) || !sec->data || len >= sec->size || start->other < len ||
	    (sec->rels.n && sec->rels.items[0].offset < len))
		return false;
	/* What says what type the function has stands right before it. */
	if (len >= TYPE_LEN && !memcmp(sec->data + len - TYPE_LEN, mark, sizeof(mark)))
		len -= TYPE_LEN;
	for (; at < len; at += insn.len)
		if (!arch_native()->insn_decode(sec->data + at, len - at, &insn) || !insn.is_nop)
			return false;
	return start->function > 0;
}

/* Symbols, and references by the section, count from the new beginning. */
static void move_references(struct side *side)
{
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		struct objsym *sym = side->obj->syms.items[i];

		if (sym->sec && sym->type != STT_SECTION)
			sym->value -= secinfo_of(sym->sec)->front;
	}
	for (size_t i = 0; i < side->obj->secs.n; i++) {
		struct objsec *sec = side->obj->secs.items[i];
		struct objrel *rel;

		vec_for_each (&sec->rels, rel)
			if (rel->sym && rel->sym->sec && rel->sym->type == STT_SECTION)
				rel->addend -= (int64_t)secinfo_of(rel->sym->sec)->front;
	}
}

int front_cut(struct side *side, struct uspl_err *err)
{
	auto_free struct start *starts = calloc(side->obj->secs.n + 1, sizeof(*starts));
	bool any = false;

	if (!starts)
		return uspl_fail_nomem(err);
	find_starts(side, starts);
	for (size_t i = 0; i < side->obj->secs.n; i++) {
		struct objsec *sec = side->obj->secs.items[i];
		uint64_t len = starts[i].function;
		struct objrel *rel;

		if (!is_room(sec, &starts[i]))
			continue;
		sec->data += len;
		sec->size -= len;
		secinfo_of(sec)->front = len;
		vec_for_each (&sec->rels, rel)
			rel->offset -= len;
		any = true;
	}
	if (any)
		move_references(side);
	return 0;
}
