// SPDX-License-Identifier: GPL-3.0-or-later
// insn_skim.c - x86-64: how long an instruction is and where it leads, of those that are frequent
/*
 * Who looks through all code of a large library asks this of ten million instructions. A table
 * answers for most of them in a tenth of the time that the decoder takes. What isn't in the table,
 * or has a prefix or an operand that makes it another instruction, is left to the decoder
 * (tests/unit/insn_skim_test.c compares both).
 */

#include <string.h>

#include "arch/x86_64/x86_64.h"

#define LEN_MAX 15

/* What follows an opcode. */
enum form {
	REST, /* the decoder's */
	NONE, /* nothing */
	MODRM,
	IMM8,
	IMM32, /* 16 bits with an operand size prefix */
	IMM64, /* the same; 64 bits with REX.W */
	MOD8,  /* both */
	MOD32,
	JUMP8,
	JUMP32,
	GROUP3,  /* MODRM, and an immediate if its register is 0 or 1: test */
	GROUP5,  /* MODRM, whose register says what it does */
	GROUP11, /* MOD8 or MOD32 with register 0 only */
	MEMORY,  /* MODRM that isn't a register */
	PREFIX,
};

/* clang-format off */
static const uint8_t forms[256] = {
	[0x00 ... 0x03] = MODRM, [0x04] = IMM8, [0x05] = IMM32,
	[0x08 ... 0x0b] = MODRM, [0x0c] = IMM8, [0x0d] = IMM32,
	[0x10 ... 0x13] = MODRM, [0x14] = IMM8, [0x15] = IMM32,
	[0x18 ... 0x1b] = MODRM, [0x1c] = IMM8, [0x1d] = IMM32,
	[0x20 ... 0x23] = MODRM, [0x24] = IMM8, [0x25] = IMM32,
	[0x28 ... 0x2b] = MODRM, [0x2c] = IMM8, [0x2d] = IMM32,
	[0x30 ... 0x33] = MODRM, [0x34] = IMM8, [0x35] = IMM32,
	[0x38 ... 0x3b] = MODRM, [0x3c] = IMM8, [0x3d] = IMM32,
	[0x50 ... 0x5f] = NONE, [0x63] = MODRM, [0x64 ... 0x66] = PREFIX,
	[0x68] = IMM32, [0x69] = MOD32, [0x6a] = IMM8, [0x6b] = MOD8,
	[0x70 ... 0x7f] = JUMP8, [0x80] = MOD8, [0x81] = MOD32, [0x83] = MOD8,
	[0x84 ... 0x8b] = MODRM, [0x8d] = MEMORY,
	[0x91 ... 0x97] = NONE, [0x98 ... 0x99] = NONE, [0xa8] = IMM8, [0xa9] = IMM32,
	[0xb0 ... 0xb7] = IMM8, [0xb8 ... 0xbf] = IMM64, [0xc0 ... 0xc1] = MOD8,
	[0xc3] = NONE, [0xc6] = GROUP11, [0xc7] = GROUP11, [0xc9] = NONE,
	[0xd0 ... 0xd3] = MODRM, [0xe8 ... 0xe9] = JUMP32, [0xeb] = JUMP8,
	[0xf2 ... 0xf3] = PREFIX, [0xf6 ... 0xf7] = GROUP3, [0xff] = GROUP5,
};

/* Behind 0f, without a prefix or with 66. */
static const uint8_t forms_0f[256] = {
	[0x10 ... 0x11] = MODRM, [0x14 ... 0x15] = MODRM, [0x1f] = MODRM, [0x28 ... 0x29] = MODRM,
	[0x2e ... 0x2f] = MODRM, [0x40 ... 0x4f] = MODRM, [0x54 ... 0x59] = MODRM,
	[0x5c ... 0x5f] = MODRM, [0x80 ... 0x8f] = JUMP32, [0x90 ... 0x9f] = MODRM,
	[0xa3 ... 0xa3] = MODRM, [0xa4] = MOD8, [0xa5] = MODRM, [0xab] = MODRM, [0xac] = MOD8,
	[0xad] = MODRM, [0xaf] = MODRM, [0xb3] = MODRM, [0xb6 ... 0xb7] = MODRM,
	[0xbb ... 0xbf] = MODRM, [0xc6] = MOD8,
};

/* With f2 or f3: the scalar operations. */
static const uint8_t forms_scalar[256] = {
	[0x10 ... 0x11] = MODRM, [0x2a] = MODRM, [0x2c ... 0x2d] = MODRM, [0x51] = MODRM,
	[0x58 ... 0x5a] = MODRM, [0x5c ... 0x5f] = MODRM,
};

/* With 66 only: integers in vector registers. */
static const uint8_t forms_vector[256] = {
	[0x60 ... 0x62] = MODRM, [0x64 ... 0x66] = MODRM, [0x6c ... 0x6f] = MODRM,
	[0x70] = MOD8, [0x74 ... 0x76] = MODRM, [0x7e ... 0x7f] = MODRM, [0xd4] = MODRM,
	[0xd6] = REST, [0xdb] = MODRM, [0xeb] = MODRM, [0xef] = MODRM, [0xfa ... 0xfe] = MODRM,
};
/* clang-format on */

struct skim {
	const uint8_t *code;
	size_t len, at;
	bool operand_size, scalar, wide; /* 66; f2 or f3; REX.W */
	struct insn insn;
};

/* The operand behind the opcode: a register, or memory with a displacement. */
static bool take_modrm(struct skim *skim, uint8_t *ret_modrm)
{
	size_t disp = 0;
	uint8_t modrm, mod, rm;

	if (skim->at >= skim->len)
		return false;
	modrm = skim->code[skim->at++];
	mod = modrm >> 6;
	rm = modrm & 7;
	*ret_modrm = modrm;
	if (mod == 3)
		return true;
	if (rm == 4) {
		if (skim->at >= skim->len)
			return false;
		if (mod == 0 && (skim->code[skim->at] & 7) == 5)
			disp = 4;
		skim->at++;
	} else if (mod == 0 && rm == 5) {
		disp = 4;
		skim->insn.pc_relative_mem = true;
	}
	disp = mod == 1 ? 1 : mod == 2 ? 4 : disp;
	skim->insn.disp_off = disp ? (uint8_t)skim->at : 0;
	skim->insn.disp_size = (uint8_t)disp;
	skim->at += disp;
	return true;
}

static void take_imm(struct skim *skim, size_t size)
{
	skim->insn.imm_off = (uint8_t)skim->at;
	skim->insn.imm_size = (uint8_t)size;
	skim->at += size;
}

static bool take_jump(struct skim *skim, size_t size)
{
	int8_t near;
	int32_t far;

	if (skim->at + size > skim->len || skim->operand_size || skim->scalar)
		return false;
	skim->insn.rel_off = (uint8_t)skim->at;
	skim->insn.rel_size = (uint8_t)size;
	memcpy(&near, skim->code + skim->at, sizeof(near));
	if (size == sizeof(far))
		memcpy(&far, skim->code + skim->at, sizeof(far));
	skim->insn.rel = size == sizeof(far) ? far : near;
	skim->at += size;
	return true;
}

/* What follows the opcode; false: the decoder is to look. */
static bool take_form(struct skim *skim, enum form form, uint8_t opcode)
{
	size_t imm = skim->operand_size ? 2 : 4;
	uint8_t modrm = 0, reg;

	if (form == NONE)
		return true;
	if (form == IMM8 || form == IMM32 || form == IMM64) {
		take_imm(skim, form == IMM8 ? 1 : form == IMM64 && skim->wide ? 8 : imm);
		return form == IMM64 || !skim->wide || !skim->operand_size;
	}
	if (form == JUMP8 || form == JUMP32)
		return take_jump(skim, form == JUMP8 ? 1 : 4);
	if (skim->wide && skim->operand_size)
		return false;
	if (!take_modrm(skim, &modrm))
		return false;
	reg = modrm >> 3 & 7;
	if ((form == MEMORY && modrm >> 6 == 3) || (form == GROUP11 && reg))
		return false;
	if (form == MOD8 || (form == GROUP11 && opcode == 0xc6) ||
	    (form == GROUP3 && opcode == 0xf6 && reg < 2))
		take_imm(skim, 1);
	else if (form == MOD32 || form == GROUP11 || (form == GROUP3 && reg < 2))
		take_imm(skim, imm);
	if (form != GROUP5)
		return true;
	skim->insn.flow = reg == 2   ? INSN_CALL_INDIRECT
			  : reg == 4 ? INSN_JUMP_INDIRECT
				     : INSN_PLAIN;
	return reg != 3 && reg != 5 && reg != 7;
}

static enum insn_flow flow_of(uint8_t opcode, bool two_bytes)
{
	if (two_bytes)
		return (opcode & 0xf0) == 0x80 ? INSN_COND_JUMP : INSN_PLAIN;
	if ((opcode & 0xf0) == 0x70)
		return INSN_COND_JUMP;
	if (opcode == 0xe8)
		return INSN_CALL;
	if (opcode == 0xe9 || opcode == 0xeb)
		return INSN_JUMP;
	return opcode == 0xc3 ? INSN_RETURN : INSN_PLAIN;
}

static bool skim(const uint8_t *code, size_t len, struct insn *ret)
{
	struct skim skim = { .code = code, .len = len < LEN_MAX ? len : LEN_MAX };
	bool two_bytes;
	enum form form;
	uint8_t byte;

	for (; skim.at < skim.len && forms[code[skim.at]] == PREFIX; skim.at++) {
		skim.operand_size |= code[skim.at] == 0x66;
		skim.scalar |= code[skim.at] >= 0xf2;
	}
	if (skim.at < skim.len && (code[skim.at] & 0xf0) == 0x40)
		skim.wide = code[skim.at++] & 8;
	two_bytes = skim.at + 1 < skim.len && code[skim.at] == 0x0f;
	skim.at += two_bytes;
	if (skim.at >= skim.len || (skim.scalar && (!two_bytes || skim.operand_size)))
		return false;
	byte = code[skim.at++];
	form = !two_bytes ? forms[byte] : skim.scalar ? forms_scalar[byte] : forms_0f[byte];
	if (two_bytes && skim.operand_size && !skim.scalar && form == REST)
		form = forms_vector[byte];
	if (form == REST || form == PREFIX)
		return false;
	skim.insn.flow = flow_of(byte, two_bytes);
	if (!take_form(&skim, form, byte) || skim.at > skim.len)
		return false;
	skim.insn.len = (uint8_t)skim.at;
	*ret = skim.insn;
	return true;
}

bool x86_64_insn_skim(const uint8_t *code, size_t len, struct insn *ret)
{
	return skim(code, len, ret) || x86_64_insn_decode(code, len, ret);
}
