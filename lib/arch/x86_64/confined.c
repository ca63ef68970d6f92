// SPDX-License-Identifier: GPL-3.0-or-later
// confined.c - x86-64: code of a user's that is to run within the program's, looked at before it is
// loaded
/*
 * The code runs where only the general registers have been saved, on a stack of which it isn't
 * known how much is left. So it may use general registers only, and its stack must be seen to be
 * bounded: by pushes, by sub and add of constants, and by the return from a frame. Each push and
 * sub counts once, wherever it stands; a loop that would push without end has a pop in it, or is
 * none that a compiler makes.
 */

#include <Zydis/Zydis.h>

#include "arch/probe_code.h"

static bool is_general(const ZydisDecodedInstruction *insn)
{
	switch (insn->meta.isa_set) {
	case ZYDIS_ISA_SET_I86:
	case ZYDIS_ISA_SET_I186:
	case ZYDIS_ISA_SET_I286REAL:
	case ZYDIS_ISA_SET_I386:
	case ZYDIS_ISA_SET_I486REAL:
	case ZYDIS_ISA_SET_PENTIUMREAL:
	case ZYDIS_ISA_SET_LONGMODE:
	case ZYDIS_ISA_SET_CMOV:
	case ZYDIS_ISA_SET_FAT_NOP:
	case ZYDIS_ISA_SET_PPRO:
	case ZYDIS_ISA_SET_CMPXCHG16B:
	case ZYDIS_ISA_SET_PAUSE:
	case ZYDIS_ISA_SET_POPCNT:
	case ZYDIS_ISA_SET_BMI1:
	case ZYDIS_ISA_SET_BMI2:
	case ZYDIS_ISA_SET_LZCNT:
	case ZYDIS_ISA_SET_CET:
		return true;
	default:
		return false;
	}
}

/* Why it may not run there; NULL if it may. */
static const char *why_not(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
	if (insn->meta.category == ZYDIS_CATEGORY_SYSCALL ||
	    insn->meta.category == ZYDIS_CATEGORY_SYSTEM ||
	    insn->meta.category == ZYDIS_CATEGORY_INTERRUPT ||
	    insn->meta.category == ZYDIS_CATEGORY_IO || insn->meta.category == ZYDIS_CATEGORY_SEGOP)
		return "asks the kernel, or changes what only the kernel should";
	if (!is_general(insn))
		return "uses other registers than the general ones";
	if ((insn->meta.category == ZYDIS_CATEGORY_CALL ||
	     insn->meta.category == ZYDIS_CATEGORY_UNCOND_BR) &&
	    operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return "calls or jumps to what can't be known";
	return NULL;
}

/* What it takes of the stack; -1 if that can't be told. */
static int64_t stack_of(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
	bool constant = insn->operand_count > 1 && operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	if (insn->mnemonic == ZYDIS_MNEMONIC_PUSH || insn->mnemonic == ZYDIS_MNEMONIC_CALL)
		return 8;
	if (insn->mnemonic == ZYDIS_MNEMONIC_POP || insn->mnemonic == ZYDIS_MNEMONIC_RET ||
	    insn->mnemonic == ZYDIS_MNEMONIC_LEAVE)
		return 0;
	for (size_t i = 0; i < insn->operand_count_visible; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
		    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
						     operands[i].reg.value) == ZYDIS_REGISTER_RSP) {
			if (insn->mnemonic == ZYDIS_MNEMONIC_ADD && constant)
				return operands[1].imm.value.s < 0 ? -operands[1].imm.value.s : 0;
			if (insn->mnemonic == ZYDIS_MNEMONIC_SUB && constant)
				return operands[1].imm.value.s > 0 ? operands[1].imm.value.s : 0;
			return -1;
		}
	return 0;
}

int confined_check(const uint8_t *code, size_t len, uint64_t *ret_stack, struct uspl_err *err)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;
	uint64_t stack = 8; /* the return address */
	size_t at = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (at < len) {
		const char *why = "isn't understood";
		int64_t more;

		if (ZYAN_SUCCESS(
			    ZydisDecoderDecodeFull(&decoder, code + at, len - at, &insn, operands)))
			why = why_not(&insn, operands);
		if (why)
			return uspl_fail(err, USPL_E_UNSUPPORTED, "its code at +0x%zx %s", at, why);
		more = stack_of(&insn, operands);
		if (more < 0)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "how much stack it takes can't be told, at +0x%zx", at);
		stack += (uint64_t)more;
		at += insn.length;
	}
	*ret_stack = stack;
	return 0;
}
