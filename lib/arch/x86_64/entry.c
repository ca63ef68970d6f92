// SPDX-License-Identifier: GPL-3.0-or-later
// entry.c - x86-64: what code does first: does it look at its return address, change stacks, or
// look at the flags?
/*
 * setjmp and getcontext note their return address, vfork takes it off the stack, and some functions
 * find their caller by it. As long as nothing has changed the stack pointer, the return address is
 * what it points to. Code that sets the stack pointer from another register isn't on a stack of its
 * caller's: it is the beginning of a coroutine.
 *
 * A function doesn't read the flags that it finds. A part of a function may: it is jumped to on a
 * condition, and may look at it again.
 */

#include <Zydis/Zydis.h>

#include "arch/x86_64/x86_64.h"

/* What is looked at: setjmp stores seven registers before. */
enum { INSNS_MAX = 24 };

static bool is_stack_pointer(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == ZYDIS_REGISTER_RSP;
}

static bool reads_top(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.type == ZYDIS_MEMOP_TYPE_MEM &&
	       op->mem.base == ZYDIS_REGISTER_RSP && op->mem.index == ZYDIS_REGISTER_NONE &&
	       !op->mem.disp.value && (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ);
}

/* What an instruction does with the stack. */
enum use { USE_NONE, USE_READS, USE_CHANGES };

static enum use use_of(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops)
{
	if (insn->meta.category == ZYDIS_CATEGORY_RET)
		return USE_CHANGES;
	/* The stack pointer becomes what another register holds. */
	if (insn->mnemonic == ZYDIS_MNEMONIC_MOV && is_stack_pointer(&ops[0]) &&
	    ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
		return USE_READS;
	for (int i = 0; i < insn->operand_count; i++)
		if (reads_top(&ops[i]))
			return USE_READS;
	for (int i = 0; i < insn->operand_count; i++)
		if (is_stack_pointer(&ops[i]) && (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			return USE_CHANGES;
	return USE_NONE;
}

bool x86_64_minds_return(const uint8_t *code, size_t len)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;
	size_t at = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (int i = 0; i < INSNS_MAX && at < len; i++) {
		if (!ZYAN_SUCCESS(
			    ZydisDecoderDecodeFull(&decoder, code + at, len - at, &insn, ops)))
			return false;
		switch (use_of(&insn, ops)) {
		case USE_READS:
			return true;
		case USE_CHANGES:
			return false;
		case USE_NONE:
			at += insn.length;
		}
	}
	return false;
}

#define STATUS_FLAGS                                                                               \
	(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF |               \
	 ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF)

bool x86_64_ignores_flags(const uint8_t *code, size_t len)
{
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;
	ZydisAccessedFlagsMask set = 0;
	size_t at = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (int i = 0; i < INSNS_MAX && at < len; i++) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, len - at,
								&insn)))
			return false;
		/* Neither a callee nor a caller expects anything of them. */
		if (insn.meta.category == ZYDIS_CATEGORY_CALL ||
		    insn.meta.category == ZYDIS_CATEGORY_RET)
			return true;
		if (insn.cpu_flags->tested & STATUS_FLAGS & ~set)
			return false;
		set |= insn.cpu_flags->modified | insn.cpu_flags->set_0 | insn.cpu_flags->set_1 |
		       insn.cpu_flags->undefined;
		if ((set & STATUS_FLAGS) == STATUS_FLAGS)
			return true;
		if (insn.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE)
			return false;
		at += insn.length;
	}
	return false;
}
