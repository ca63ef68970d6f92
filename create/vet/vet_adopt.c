// SPDX-License-Identifier: GPL-3.0-or-later
// vet_adopt.c - initial values that a process may take over while its functions are switched

#include "create/vet/vet_adopt.h"

#include <string.h>

#include "arch/arch.h"
#include "base/buf.h"
#include "create/unit/report_warn.h"
#include "create/unit/unit.h"
#include "update/update.h"

/* What an instruction does with the variable that it names. */
enum use { USE_UNKNOWN, USE_READ, USE_WRITE };

/* Of the instructions without a prefix 0f: those that only read their memory operand. */
static bool reads_plainly(uint8_t op, uint8_t reg)
{
	static const uint8_t ops[] = { 0x02, 0x03, 0x0a, 0x0b, 0x12, 0x13, 0x1a, 0x1b, 0x22,
				       0x23, 0x2a, 0x2b, 0x32, 0x33, 0x38, 0x39, 0x3a, 0x3b,
				       0x63, 0x69, 0x6b, 0x84, 0x85, 0x8a, 0x8b };

	if (memchr(ops, op, sizeof(ops)))
		return true;
	/* cmp and test with a constant */
	return ((op == 0x80 || op == 0x81 || op == 0x83) && reg == 7) ||
	       ((op == 0xf6 || op == 0xf7) && reg == 0);
}

/* By its opcode, where its memory operand is named by its distance; all others are unknown. */
static enum use use_of(const uint8_t *code, const struct insn *insn)
{
	/*
	 * With the prefix 0f: movzx, movsx, imul, loads and arithmetic of SSE; and cmov, 40 to 4f.
	 */
	static const uint8_t extended[] = { 0x10, 0x28, 0x2a, 0x2e, 0x2f, 0x58, 0x59, 0x5c,
					    0x5e, 0x6e, 0x6f, 0xaf, 0xb6, 0xb7, 0xbe, 0xbf };
	uint8_t at = insn->disp_off, op, reg;

	if (!insn->pc_relative_mem || insn->disp_size != 4 || at < 2)
		return USE_UNKNOWN;
	/* VEX and EVEX: other operations under the same numbers */
	if (code[0] == 0xc4 || code[0] == 0xc5 || code[0] == 0x62)
		return USE_UNKNOWN;
	op = code[at - 2];
	reg = code[at - 1] >> 3 & 7;
	if (at >= 3 && code[at - 3] == 0x0f) {
		if (memchr(extended, op, sizeof(extended)) || (op & 0xf0) == 0x40)
			return USE_READ;
		return op == 0x11 || op == 0x29 || op == 0x7f || op == 0xd6 ? USE_WRITE
									    : USE_UNKNOWN;
	}
	/* What has two prefixes of this kind, or VEX, isn't told apart from these by one byte. */
	if (at > 4 || (at == 4 && code[0] != 0x66 && (code[0] & 0xf0) != 0x40))
		return USE_UNKNOWN;
	if (at == 4 && (code[1] & 0xf0) != 0x40)
		return USE_UNKNOWN;
	if (at == 3 && code[0] != 0x66 && (code[0] & 0xf0) != 0x40)
		return USE_UNKNOWN;
	if (reads_plainly(op, reg))
		return USE_READ;
	if (op == 0x88 || op == 0x89 || ((op == 0xc6 || op == 0xc7) && reg == 0))
		return USE_WRITE;
	return USE_UNKNOWN;
}

/* What the instruction with that field does with it. */
static enum use use_at(const struct objsec *sec, uint64_t field)
{
	struct insn insn;

	for (uint64_t at = 0; sec->data && at < sec->size; at += insn.len) {
		if (!arch_native()->insn_decode(sec->data + at, sec->size - at, &insn) || !insn.len)
			return USE_UNKNOWN;
		if (field < at + insn.len)
			return field == at + insn.disp_off ? use_of(sec->data + at, &insn)
							   : USE_UNKNOWN;
	}
	return USE_UNKNOWN;
}

/* One side's uses of the variable. */
static bool uses_allow(const struct side *side, const struct objsym *var, struct buf *why)
{
	for (size_t i = 0; i < side->obj->secs.n; i++) {
		const struct objsec *sec = side->obj->secs.items[i];
		const struct secinfo *secinfo = secinfo_of(sec);
		const struct objsym *twin = secinfo_twin(secinfo);
		enum secinfo_kind kind = secinfo->kind;
		const char *title = secinfo->owner ? secinfo->owner->name : sec->name;
		/* It is one of the update's functions, or one that the update replaces. */
		bool replaced =
			secinfo->carried || (twin && twin->sec && secinfo_of(twin->sec)->carried);
		const struct objrel *rel;

		if (kind == SECINFO_IGNORED || kind == SECINFO_UNWIND)
			continue;
		vec_for_each (&sec->rels, rel) {
			enum use use;

			if (rel->sym != var && (!rel->sym->sec || rel->sym->sec != var->sec))
				continue;
			use = kind == SECINFO_CODE ? use_at(sec, rel->offset) : USE_UNKNOWN;
			if (use == USE_UNKNOWN) {
				buf_addf(why, "'%s' does more with it than read it or set it",
					 title);
				return false;
			}
			if (use == USE_READ && !replaced) {
				buf_addf(why, "'%s' reads it, and isn't replaced", title);
				return false;
			}
		}
	}
	return true;
}

static bool has_references(const struct objsym *sym)
{
	const struct objrel *rel;

	vec_for_each (&sym->sec->rels, rel)
		if (rel->offset >= sym->value && rel->offset < sym->value + sym->size)
			return true;
	return false;
}

/* Alone in its section: then what refers to the section refers to it. */
static bool is_alone(const struct objsym *sym)
{
	return sym->sec && secinfo_of(sym->sec)->kind == SECINFO_DATA &&
	       !secinfo_of(sym->sec)->shared && sym->value == 0 && sym->size == sym->sec->size;
}

bool vet_adopt_is_possible(const struct unit *unit, const struct objsym *sym, struct buf *why)
{
	const struct objsym *old = syminfo_of(sym)->twin;

	if (sym->bind != STB_LOCAL || old->bind != STB_LOCAL)
		buf_addstr(why, "it isn't static");
	else if (!is_alone(sym) || !is_alone(old))
		buf_addstr(why, "it doesn't lie by itself among the variables");
	else if (!sym->size || sym->size > UPDATE_DATUM_MAX || old->size != sym->size)
		buf_addf(why, "it is larger than %d bytes", UPDATE_DATUM_MAX);
	else if (has_references(sym) || has_references(old))
		buf_addstr(why, "its value is an address");
	else
		return uses_allow(&unit->pre, old, why) && uses_allow(&unit->post, sym, why);
	return false;
}

static void read_value(const struct objsym *sym, uint8_t value[UPDATE_DATUM_MAX])
{
	if (sym->sec->data)
		memcpy(value, sym->sec->data + sym->value, sym->size);
}

int vet_adopt_list(const struct diff *diff, struct update_target *target, struct uspl_err *err)
{
	for (size_t i = 0; diff->report->adopt_data && i < diff->n; i++) {
		const struct unit *unit = &diff->units[i];

		for (size_t j = 0; j < unit->post.obj->syms.n; j++) {
			const struct objsym *sym = unit->post.obj->syms.items[j];
			const struct syminfo *syminfo = syminfo_of(sym);
			auto_buf struct buf why = { 0 };
			struct update_datum *datum;

			if (!syminfo->twin || !syminfo->changed || !sym->sec ||
			    secinfo_of(sym->sec)->reason || !sym_is_variable(sym) ||
			    !vet_adopt_is_possible(unit, sym, &why))
				continue;
			datum = vec_push(&target->data);
			if (!datum || !(datum->symbol = strdup(syminfo->refname)))
				return uspl_fail_nomem(err);
			datum->len = (uint8_t)sym->size;
			read_value(syminfo->twin, datum->was);
			read_value(sym, datum->is);
			report_warn(
				diff->report,
				"%s: processes in which '%s' still has its initial value get the "
				"new one; others refuse the update",
				unit->source, sym->name);
		}
	}
	return 0;
}
