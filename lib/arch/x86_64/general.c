// SPDX-License-Identifier: GPL-3.0-or-later
// general.c - x86-64: does a function leave the vector registers alone?
/*
 * All instructions that may run are looked at, from the entry along every jump. They must be of the
 * base instruction set, and their operands general registers or memory. A call, an indirect jump,
 * or a jump that leaves the bytes that are there ends the proof: the answer is "no" then.
 */

#include <Zydis/Zydis.h>
#include <string.h>

#include "arch/x86_64/x86_64.h"

enum { LEN_MAX = 512 };

struct walk {
	const uint8_t *code;
	size_t len;
	bool seen[LEN_MAX];
	uint16_t open[LEN_MAX]; /* offsets to go on from */
	size_t n_open;
};

static bool is_general_register(ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8:
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
	case ZYDIS_REGCLASS_FLAGS:
	case ZYDIS_REGCLASS_IP:
		return true;
	default:
		return false;
	}
}

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
	for (int i = 0; i < insn.operand_count; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    !is_general_register(ops[i].reg.value))
			return false;
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
