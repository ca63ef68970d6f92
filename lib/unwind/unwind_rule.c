// SPDX-License-Identifier: GPL-3.0-or-later
// unwind_rule.c - how to find the caller's registers at one address of code

#include "unwind/unwind_rule.h"

/* The form that nearly every location has: memory at CFA + offset, or the value CFA + offset. */
static void simplify(struct unwind_reg_rule *rule)
{
	const Dwarf_Op *op = rule->ops;
	bool has_offset = rule->n_ops > 1 && op[1].atom == DW_OP_plus_uconst;
	size_t n = has_offset ? 2 : 1;

	rule->where = WHERE_EXPR;
	if (op[0].atom != DW_OP_call_frame_cfa)
		return;
	rule->offset = has_offset ? (int64_t)op[1].number : 0;
	if (rule->n_ops == n)
		rule->where = WHERE_AT_CFA;
	else if (rule->n_ops == n + 1 && op[n].atom == DW_OP_stack_value)
		rule->where = WHERE_CFA_PLUS;
}

bool unwind_rule_compile(struct unwind_rule *rule, Dwarf_Frame *frame)
{
	Dwarf_Op *op;

	rule->frame = frame;
	rule->ra_reg = dwarf_frame_info(frame, NULL, NULL, &rule->signal_frame);
	if (rule->ra_reg < 0 || rule->ra_reg >= DWARF_REGS ||
	    dwarf_frame_cfa(frame, &rule->cfa_ops, &rule->n_cfa_ops) != 0 || !rule->n_cfa_ops)
		return false;
	op = rule->cfa_ops;
	rule->cfa_reg = -1;
	if (rule->n_cfa_ops == 1 && op->atom == DW_OP_bregx && op->number < DWARF_REGS) {
		rule->cfa_reg = (int)op->number;
		rule->cfa_offset = (int64_t)op->number2;
	} else if (rule->n_cfa_ops == 1 && op->atom >= DW_OP_breg0 &&
		   op->atom < DW_OP_breg0 + DWARF_REGS) {
		rule->cfa_reg = op->atom - DW_OP_breg0;
		rule->cfa_offset = (int64_t)op->number;
	}
	for (int reg = 0; reg < DWARF_REGS; reg++) {
		struct unwind_reg_rule *how = &rule->regs[reg];

		if (dwarf_frame_register(frame, reg, how->ops_mem, &how->ops, &how->n_ops) != 0)
			return false;
		if (how->n_ops)
			simplify(how);
		else
			how->where = how->ops ? WHERE_UNDEFINED : WHERE_SAME;
	}
	return true;
}

void unwind_rule_plain(struct unwind_rule *rule, int depth)
{
	rule->cfa_reg = DWARF_SP;
	rule->cfa_offset = depth + (int)sizeof(uint64_t);
	rule->ra_reg = DWARF_PC;
	rule->regs[DWARF_PC].where = WHERE_AT_CFA;
	rule->regs[DWARF_PC].offset = -(int)sizeof(uint64_t);
}
