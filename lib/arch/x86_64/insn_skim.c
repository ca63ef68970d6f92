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
/* More are left to the decoder: so all that is looked at lies within LEN_MAX bytes. */
#define PREFIXES_MAX 4

/* What follows an opcode. */
enum form {
	REST = 0,  /* the decoder's */
	NONE = 1,  /* nothing */
	MODRM = 2, /* may be or'ed with one of the three below */
	IMM8 = 4,
	IMM32 = 8,  /* 16 bits with an operand size prefix */
	IMM64 = 16, /* the same; 64 bits with REX.W */
	MOD8 = MODRM | IMM8,
	MOD32 = MODRM | IMM32,
	JUMP8 = 32,
	JUMP32 = 64,
	ODD = 128,            /* it depends on more: */
	GROUP3 = ODD | MODRM, /* MODRM, and an immediate if its register is 0 or 1: test */
	GROUP5 = GROUP3 | 1,  /* MODRM, whose register says what it does */
	GROUP11 = GROUP3 | 4, /* MOD8 or MOD32 with register 0 only */
	MEMORY = GROUP3 | 8,  /* MODRM that isn't a register */
	PREFIX = ODD | 1,
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

/*
 * How long the operand is by its first byte, and the displacement in it; what a second one (SIB)
 * may add isn't counted. ROW: of the eight registers, of which the fifth has a SIB.
 */
#define ROW(n, sib, sixth) n, n, n, n, sib, sixth, n, n
#define ROWS(n, sib, sixth)                                                                        \
	ROW(n, sib, sixth), ROW(n, sib, sixth), ROW(n, sib, sixth), ROW(n, sib, sixth),            \
		ROW(n, sib, sixth), ROW(n, sib, sixth), ROW(n, sib, sixth), ROW(n, sib, sixth)
static const uint8_t operand_len[256] = { ROWS(1, 2, 5), ROWS(2, 3, 2), ROWS(5, 6, 5),
					  ROWS(1, 1, 1) };
static const uint8_t operand_disp[256] = { ROWS(0, 0, 4), ROWS(1, 1, 1), ROWS(4, 4, 4),
					   ROWS(0, 0, 0) };

/* An instruction that is looked at. */
struct skim {
	const uint8_t *code; /* LEN_MAX bytes can be read */
	size_t at;
	bool operand_size, scalar, wide; /* 66; f2 or f3; REX.W */
};

/* The operand behind the opcode: a register, or memory with a displacement. */
static void take_modrm(struct skim *skim, struct insn *insn)
{
	const uint8_t modrm = skim->code[skim->at];
	size_t disp = operand_disp[modrm], len = operand_len[modrm];

	/* Without a base register. */
	if ((modrm & 0xc7) == 0x04 && (skim->code[skim->at + 1] & 7) == 5) {
		disp = 4;
		len += 4;
	}
	skim->at += len;
	insn->pc_relative_mem = (modrm & 0xc7) == 0x05;
	insn->disp_off = disp ? (uint8_t)(skim->at - disp) : 0;
	insn->disp_size = (uint8_t)disp;
}

static void take_imm(struct skim *skim, struct insn *insn, size_t size)
{
	insn->imm_off = (uint8_t)skim->at;
	insn->imm_size = (uint8_t)size;
	skim->at += size;
}

static bool take_jump(struct skim *skim, struct insn *insn, size_t size)
{
	int32_t far;

	if (skim->operand_size || skim->scalar)
		return false;
	memcpy(&far, skim->code + skim->at, sizeof(far));
	insn->rel_off = (uint8_t)skim->at;
	insn->rel_size = (uint8_t)size;
	insn->rel = size == sizeof(far) ? far : (int8_t)skim->code[skim->at];
	skim->at += size;
	return true;
}

/* The same as without ODD if true comes back. */
static bool take_odd(const struct skim *skim, uint8_t opcode, enum form *form, struct insn *insn)
{
	const uint8_t modrm = skim->code[skim->at], reg = modrm >> 3 & 7;
	const enum form imm = opcode & 1 ? MOD32 : MOD8;

	switch (*form) {
	case GROUP3:
		*form = reg < 2 ? imm : MODRM;
		return true;
	case GROUP11:
		*form = imm;
		return !reg;
	case MEMORY:
		*form = MODRM;
		return modrm >> 6 != 3;
	case GROUP5:
		*form = MODRM;
		insn->flow = reg == 2   ? INSN_CALL_INDIRECT
			     : reg == 4 ? INSN_JUMP_INDIRECT
					: INSN_PLAIN;
		return reg != 3 && reg != 5 && reg != 7;
	default:
		return false;
	}
}

/* What follows the opcode; false: the decoder is to look. */
static bool take_form(struct skim *skim, enum form form, uint8_t opcode, struct insn *insn)
{
	const size_t imm = skim->operand_size ? 2 : 4;

	if (form & (JUMP8 | JUMP32))
		return take_jump(skim, insn, form == JUMP8 ? 1 : 4);
	if (skim->wide && skim->operand_size && form != NONE && form != IMM64)
		return false;
	if (form & ODD && !take_odd(skim, opcode, &form, insn))
		return false;
	if (form & MODRM)
		take_modrm(skim, insn);
	if (form & IMM8)
		take_imm(skim, insn, 1);
	else if (form & IMM32)
		take_imm(skim, insn, imm);
	else if (form & IMM64)
		take_imm(skim, insn, skim->wide ? 8 : imm);
	return true;
}

/* Of instructions of one byte, and behind 0f. */
static const uint8_t flows[256] = {
	[0x70 ... 0x7f] = INSN_COND_JUMP,
	[0xc3] = INSN_RETURN,
	[0xe8] = INSN_CALL,
	[0xe9] = INSN_JUMP,
	[0xeb] = INSN_JUMP,
};
static const uint8_t flows_0f[256] = { [0x80 ... 0x8f] = INSN_COND_JUMP };

static bool skim(const uint8_t *code, struct insn *ret)
{
	struct skim skim = { .code = code };
	uint8_t byte = code[0];
	enum form form;

	for (; forms[byte] == PREFIX; byte = code[++skim.at]) {
		if (skim.at == PREFIXES_MAX)
			return false;
		skim.operand_size |= byte == 0x66;
		skim.scalar |= byte >= 0xf2;
	}
	if ((byte & 0xf0) == 0x40) {
		skim.wide = byte & 8;
		byte = code[++skim.at];
	}
	if (byte == 0x0f) {
		byte = code[++skim.at];
		form = skim.scalar ? forms_scalar[byte] : forms_0f[byte];
		if (skim.operand_size && skim.scalar)
			return false;
		if (form == REST && skim.operand_size)
			form = forms_vector[byte];
		ret->flow = flows_0f[byte];
	} else {
		if (skim.scalar)
			return false;
		form = forms[byte];
		ret->flow = flows[byte];
	}
	if (form == REST || form == PREFIX)
		return false;
	skim.at++;
	if (!take_form(&skim, form, byte, ret))
		return false;
	ret->len = (uint8_t)skim.at;
	return true;
}

bool x86_64_insn_skim(const uint8_t *code, size_t len, struct insn *ret)
{
	uint8_t padded[LEN_MAX] = { 0 };
	const uint8_t *bytes = code;

	if (len < LEN_MAX) {
		memcpy(padded, code, len);
		bytes = padded;
	}
	*ret = (struct insn){ 0 };
	return (skim(bytes, ret) && ret->len <= len && ret->len <= LEN_MAX) ||
	       x86_64_insn_decode(code, len, ret);
}
