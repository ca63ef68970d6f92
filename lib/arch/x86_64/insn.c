// SPDX-License-Identifier: GPL-3.0-or-later
// insn.c - x86-64: decoding, as far as comparing and relocating need it, with Zydis

#include <Zydis/Zydis.h>
#include <string.h>

#include "arch/x86_64/x86_64.h"

static enum insn_flow flow_of(const ZydisDecodedInstruction *zydis)
{
	bool constant = zydis->raw.imm[0].is_relative;

	switch (zydis->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return constant ? INSN_CALL : INSN_CALL_INDIRECT;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return constant ? INSN_JUMP : INSN_JUMP_INDIRECT;
	case ZYDIS_CATEGORY_COND_BR:
		return INSN_COND_JUMP;
	case ZYDIS_CATEGORY_RET:
		return INSN_RETURN;
	default:
		break;
	}
	switch (zydis->mnemonic) {
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
		return INSN_TRAP;
	default:
		return INSN_PLAIN;
	}
}

static bool is_nop(const ZydisDecodedInstruction *zydis, const uint8_t *code)
{
	/* `xchg %ax,%ax` is `nop` with an operand size prefix; Zydis may call it either. */
	if (zydis->mnemonic == ZYDIS_MNEMONIC_XCHG)
		return zydis->length == 2 && code[0] == 0x66 && code[1] == 0x90;
	return zydis->mnemonic == ZYDIS_MNEMONIC_NOP;
}

static bool is_syscall(const ZydisDecodedInstruction *zydis)
{
	return zydis->mnemonic == ZYDIS_MNEMONIC_SYSCALL ||
	       zydis->mnemonic == ZYDIS_MNEMONIC_SYSENTER || zydis->mnemonic == ZYDIS_MNEMONIC_INT;
}

static void find_fields(const ZydisDecodedInstruction *zydis, struct insn *insn)
{
	/*
	 * ENTER is the only instruction of compilers' code with two immediates; the last one stands
	 * for both.
	 */
	int last = zydis->raw.imm[1].size ? 1 : 0;

	if (zydis->raw.imm[last].is_relative) {
		insn->rel = zydis->raw.imm[last].value.s;
		insn->rel_off = zydis->raw.imm[last].offset;
		insn->rel_size = zydis->raw.imm[last].size / 8;
	} else {
		insn->imm_off = zydis->raw.imm[last].offset;
		insn->imm_size = zydis->raw.imm[last].size / 8;
	}
	insn->disp_off = zydis->raw.disp.offset;
	insn->disp_size = zydis->raw.disp.size / 8;
	/* In 64-bit code mod 0 with r/m 5 is relative to the instruction's end. */
	insn->pc_relative_mem = (zydis->attributes & ZYDIS_ATTRIB_HAS_MODRM) &&
				zydis->raw.modrm.mod == 0 && zydis->raw.modrm.rm == 5 &&
				zydis->raw.disp.size == 32;
}

bool x86_64_insn_decode(const uint8_t *code, size_t len, struct insn *ret)
{
	ZydisDecodedInstruction zydis;
	ZydisDecoder decoder;
	struct insn insn = { 0 };

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code, len, &zydis)))
		return false;
	insn.len = zydis.length;
	insn.flow = flow_of(&zydis);
	insn.op = (uint16_t)zydis.mnemonic;
	insn.is_nop = is_nop(&zydis, code);
	insn.is_syscall = is_syscall(&zydis);
	find_fields(&zydis, &insn);
	*ret = insn;
	return true;
}
