/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwind_rule.h - how to find the caller's registers at one address of code
 *
 * What libdw says of an address is compiled once. Nearly all of it is "register plus offset" for
 * the CFA (the stack pointer in the caller), and "at CFA plus offset" for registers; the rest
 * (signal frames, PLT stubs) keeps its DWARF expressions. Only unwind.c includes this.
 */
#ifndef USPL_UNWIND_UNWIND_RULE_H
#define USPL_UNWIND_UNWIND_RULE_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "arch/regs.h"

enum where { WHERE_SAME, WHERE_UNDEFINED, WHERE_AT_CFA, WHERE_CFA_PLUS, WHERE_EXPR };

struct unwind_reg_rule {
	enum where where;
	int64_t offset;
	Dwarf_Op ops_mem[3];
	Dwarf_Op *ops;
	size_t n_ops;
};

struct unwind_rule {
	taddr pc;   /* 0: the slot is free */
	bool known; /* false: there is no CFI for pc */
	bool signal_frame;
	Dwarf_Frame *frame; /* owns the expressions */
	int cfa_reg;        /* -1: by expression */
	int64_t cfa_offset;
	Dwarf_Op *cfa_ops;
	size_t n_cfa_ops;
	int ra_reg;
	struct unwind_reg_rule regs[DWARF_REGS];
};

/*
 * Fills the rule, which is zero, from libdw's frame, and takes over the frame in any case. False if
 * it says nothing of use.
 */
bool unwind_rule_compile(struct unwind_rule *rule, Dwarf_Frame *frame);
/*
 * The rule, which is zero, for code that has pushed `depth` bytes, with its return address above
 * them, and has left all registers alone that matter.
 */
void unwind_rule_plain(struct unwind_rule *rule, int depth);

#endif
