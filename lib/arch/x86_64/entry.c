// SPDX-License-Identifier: GPL-3.0-or-later
// entry.c - x86-64: what code does: does it look at its return address, change stacks, look at the
// flags, or leave the vector registers alone?
/*
 * setjmp and getcontext note their return address, vfork takes it off the stack, and some functions
 * find their caller by it. As long as nothing has changed the stack pointer, the return address is
 * what it points to. Code that sets the stack pointer from another register isn't on a stack of its
 * caller's: it is the beginning of a coroutine.
 *
 * A function doesn't read the flags that it finds. A part of a function may: it is jumped to on a
 * condition, and may look at it again.
 *
 * For the vector registers all instructions that may run are looked at, from the entry along every
 * jump. They must be of the base instruction set, and their operands general registers or memory. A
 * call, an indirect jump, or a jump that leaves the bytes that are there ends the proof: the answer
 * is "no" then.
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

enum { LEN_MAX = 512 };

struct walk {
	const uint8_t *code;
	size_t len;
	bool seen[LEN_MAX];
	uint16_t open[LEN_MAX]; /* offsets to go on from */
	size_t n_open;
};

static bool is_general(const uint8_t *code, size_t len)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, len, &insn, ops)))
		return false;
	if (insn.mnemonic == ZYDIS_MNEMONIC_ENDBR64)
		return true;
	if (insn.meta.isa_ext != ZYDIS_ISA_EXT_BASE)
		return false;
	for (int i = 0; i < insn.operand_count; i++) {
		if (ops[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		switch (ZydisRegisterGetClass(ops[i].reg.value)) {
		case ZYDIS_REGCLASS_GPR8:
		case ZYDIS_REGCLASS_GPR16:
		case ZYDIS_REGCLASS_GPR32:
		case ZYDIS_REGCLASS_GPR64:
		case ZYDIS_REGCLASS_FLAGS:
		case ZYDIS_REGCLASS_IP:
			break;
		default:
			return false;
		}
	}
	return true;
}

static bool go_on_from(struct walk *walk, uint64_t at)
{
	if (at >= walk->len)
		return false;
	if (!walk->seen[at]) {
		walk->seen[at] = true;
		walk->open[walk->n_open++] = (uint16_t)at;
	}
	return true;
}

static bool step(struct walk *walk, uint16_t at)
{
	const uint8_t *code = walk->code + at;
	struct insn insn;
	uint64_t next;

	if (!x86_64_insn_decode(code, walk->len - at, &insn) || !is_general(code, walk->len - at))
		return false;
	next = (uint64_t)at + insn.len;
	switch (insn.flow) {
	case INSN_PLAIN:
		return go_on_from(walk, next);
	case INSN_COND_JUMP:
		return go_on_from(walk, next) && go_on_from(walk, next + (uint64_t)insn.rel);
	case INSN_JUMP:
		return go_on_from(walk, next + (uint64_t)insn.rel);
	case INSN_RETURN:
		return true;
	default:
		return false;
	}
}

bool x86_64_keeps_vectors(const uint8_t *code, size_t len)
{
	struct walk walk = { .code = code, .len = len < LEN_MAX ? len : LEN_MAX };

	if (!go_on_from(&walk, 0))
		return false;
	while (walk.n_open)
		if (!step(&walk, walk.open[--walk.n_open]))
			return false;
	return true;
}
