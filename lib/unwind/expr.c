// SPDX-License-Identifier: GPL-3.0-or-later
// expr.c - the DWARF expressions that call frame information uses

#include "unwind/expr.h"

#include <dwarf.h>

#define DEPTH 16

struct stack {
	uint64_t items[DEPTH];
	size_t n;
};

static bool push(struct stack *stack, uint64_t value)
{
	if (stack->n == DEPTH)
		return false;
	stack->items[stack->n++] = value;
	return true;
}

/* Operations on the two topmost values: a is the second, b the top. */
static bool binary(uint8_t atom, uint64_t a, uint64_t b, uint64_t *ret)
{
	switch (atom) {
	case DW_OP_plus:
		*ret = a + b;
		return true;
	case DW_OP_minus:
		*ret = a - b;
		return true;
	case DW_OP_mul:
		*ret = a * b;
		return true;
	case DW_OP_and:
		*ret = a & b;
		return true;
	case DW_OP_or:
		*ret = a | b;
		return true;
	case DW_OP_xor:
		*ret = a ^ b;
		return true;
	case DW_OP_shl:
		*ret = b < 64 ? a << b : 0;
		return true;
	case DW_OP_shr:
		*ret = b < 64 ? a >> b : 0;
		return true;
	case DW_OP_ge:
		*ret = (int64_t)a >= (int64_t)b;
		return true;
	case DW_OP_gt:
		*ret = (int64_t)a > (int64_t)b;
		return true;
	case DW_OP_le:
		*ret = (int64_t)a <= (int64_t)b;
		return true;
	case DW_OP_lt:
		*ret = (int64_t)a < (int64_t)b;
		return true;
	case DW_OP_eq:
		*ret = a == b;
		return true;
	case DW_OP_ne:
		*ret = a != b;
		return true;
	default:
		return false;
	}
}

static bool constant(const Dwarf_Op *op, uint64_t *ret)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		*ret = (uint64_t)(op->atom - DW_OP_lit0);
		return true;
	}
	*ret = op->number;
	return op->atom == DW_OP_addr || (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts);
}

static bool read_register(const struct expr_state *state, uint64_t reg, uint64_t *ret)
{
	if (reg >= DWARF_REGS || !some_regs_know(state->regs, (int)reg))
		return false;
	*ret = state->regs->value[reg];
	return true;
}

static bool operate(const Dwarf_Op *op, const struct expr_state *state, struct stack *stack)
{
	uint64_t *top = stack->n ? &stack->items[stack->n - 1] : NULL, value;

	if (constant(op, &value))
		return push(stack, value);
	if (op->atom >= DW_OP_breg0 && op->atom < DW_OP_breg0 + DWARF_REGS)
		return read_register(state, op->atom - DW_OP_breg0, &value) &&
		       push(stack, value + op->number);
	switch (op->atom) {
	case DW_OP_bregx:
		return read_register(state, op->number, &value) && push(stack, value + op->number2);
	case DW_OP_call_frame_cfa:
		return push(stack, state->cfa);
	case DW_OP_nop:
		return true;
	case DW_OP_dup:
		return top && push(stack, *top);
	case DW_OP_drop:
		return top && stack->n--;
	case DW_OP_over:
		return stack->n > 1 && push(stack, top[-1]);
	case DW_OP_swap:
		if (stack->n < 2)
			return false;
		value = top[-1];
		top[-1] = *top;
		*top = value;
		return true;
	}
	if (!top)
		return false;
	switch (op->atom) {
	case DW_OP_plus_uconst:
		*top += op->number;
		return true;
	case DW_OP_deref:
		return state->read_word(state->ctx, *top, top);
	case DW_OP_neg:
		*top = -*top;
		return true;
	case DW_OP_not:
		*top = ~*top;
		return true;
	}
	return stack->n-- >= 2 && binary(op->atom, top[-1], top[0], &top[-1]);
}

bool expr_address(const Dwarf_Op *ops, size_t n, const struct expr_state *state, uint64_t *ret)
{
	struct stack stack = { .n = 0 };

	for (size_t i = 0; i < n; i++)
		if (!operate(&ops[i], state, &stack))
			return false;
	if (!stack.n)
		return false;
	*ret = stack.items[stack.n - 1];
	return true;
}

bool expr_value(const Dwarf_Op *ops, size_t n, const struct expr_state *state, uint64_t *ret)
{
	uint64_t addr;

	if (n == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom < DW_OP_reg0 + DWARF_REGS)
		return read_register(state, ops[0].atom - DW_OP_reg0, ret);
	if (n == 1 && ops[0].atom == DW_OP_regx)
		return read_register(state, ops[0].number, ret);
	if (n > 1 && ops[n - 1].atom == DW_OP_stack_value)
		return expr_address(ops, n - 1, state, ret);
	return expr_address(ops, n, state, &addr) && state->read_word(state->ctx, addr, ret);
}
