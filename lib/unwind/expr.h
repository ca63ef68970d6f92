/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expr.h - the DWARF expressions that call frame information uses
 *
 * Arithmetic, comparison, registers, memory and the CFA (DWARF 5, 2.5 and 6.4.2); no branches, no
 * types. Anything else makes the evaluation fail, which an unwinder takes as the end of what it
 * knows.
 */
#ifndef USPL_UNWIND_EXPR_H
#define USPL_UNWIND_EXPR_H

#include <elfutils/libdw.h>

#include "arch/regs.h"

/* What an expression may look at. It fails if it needs a register that isn't known. */
struct expr_state {
	const struct some_regs *regs; /* of the frame */
	uint64_t cfa;
	bool (*read_word)(void *ctx, taddr addr, uint64_t *ret);
	void *ctx;
};

/* The expression's result as an address (as in a CFA expression). */
bool expr_address(const Dwarf_Op *ops, size_t n, const struct expr_state *state, uint64_t *ret);
/*
 * The value at the location that the expression describes: memory, a register, or itself
 * (DW_OP_stack_value).
 */
bool expr_value(const Dwarf_Op *ops, size_t n, const struct expr_state *state, uint64_t *ret);

#endif
