// SPDX-License-Identifier: GPL-3.0-or-later
// detour.c - x86-64: reading a variable that is out of reach
/*
 * Code of a program reads another module's variable as if it were its own (the linker would have
 * made a copy in the program). In code that is linked into a running process the variable may be
 * too far for a 32-bit distance. Two forms of instruction can be helped, with the address in a slot:
 *
 *     lea  var(%rip), %rX      becomes   mov  slot(%rip), %rX
 *     mov  var(%rip), %rX      becomes   jmp  detour; nop...
 *                              detour:   mov  slot(%rip), %rX; mov (%rX), %rX; jmp back
 *
 * Neither touches the flags, another register, or the stack. Nothing jumps into the middle of the
 * instruction, so that its bytes are free.
 */

#include <string.h>

#include "arch/x86_64/x86_64.h"

enum {
	REX = 0x40,
	REX_W = 0x08,
	REX_R = 0x04,
	REX_B = 0x01,
	OP_MOV_LOAD = 0x8b,
	OP_LEA = 0x8d,
	OP_NOP = 0x90,
	MODRM_RIP = 0x05,   /* mod 00, rm 101 */
	RM_NEEDS_SIB = 4,   /* %rsp and %r12 as a base */
	RM_NEEDS_DISP8 = 5, /* %rbp and %r13 as a base */
	SIB_NO_INDEX = 0x24,
};

/* An instruction of one of the two forms, taken apart. */
struct load {
	uint8_t op;
	bool wide; /* 64 bits */
	uint8_t reg;
};

static bool parse(const uint8_t *insn, uint8_t len, struct load *ret)
{
	uint8_t rex = 0;

	if (len && (insn[0] & 0xf0) == REX) {
		rex = *insn++;
		len--;
	}
	if (len != 6 || (insn[1] & 0xc7) != MODRM_RIP)
		return false;
	ret->op = insn[0];
	ret->wide = rex & REX_W;
	ret->reg = (uint8_t)((insn[1] >> 3 & 7) | (rex & REX_R ? 8 : 0));
	return ret->op == OP_MOV_LOAD || (ret->op == OP_LEA && ret->wide);
}

bool x86_64_detour_possible(const uint8_t *insn, uint8_t len)
{
	struct load load;

	return parse(insn, len, &load);
}

/* mov slot(%rip), %reg, 7 bytes at `at`. */
static size_t put_load_slot(uint8_t *code, taddr at, taddr slot, uint8_t reg)
{
	int32_t rel = (int32_t)(slot - (at + 7));

	code[0] = (uint8_t)(REX | REX_W | (reg >= 8 ? REX_R : 0));
	code[1] = OP_MOV_LOAD;
	code[2] = (uint8_t)(MODRM_RIP | (reg & 7) << 3);
	memcpy(code + 3, &rel, sizeof(rel));
	return 7;
}

/* mov (%reg), %reg, of 64 or 32 bits. */
static size_t put_load_through(uint8_t *code, const struct load *load)
{
	uint8_t low = load->reg & 7;
	size_t n = 0;

	code[n++] =
		(uint8_t)(REX | (load->wide ? REX_W : 0) | (load->reg >= 8 ? REX_R | REX_B : 0));
	code[n++] = OP_MOV_LOAD;
	code[n++] = (uint8_t)((low == RM_NEEDS_DISP8 ? 0x40 : 0) | low << 3 | low);
	if (low == RM_NEEDS_SIB)
		code[n++] = SIB_NO_INDEX;
	if (low == RM_NEEDS_DISP8)
		code[n++] = 0;
	return n;
}

bool x86_64_detour_encode(const struct detour *detour, uint8_t *insn, uint8_t *code)
{
	struct load load;
	size_t n;

	if (!parse(insn, detour->insn_len, &load))
		return false;
	if (load.op == OP_LEA) {
		put_load_slot(insn, detour->insn_addr, detour->slot, load.reg);
		return true;
	}
	n = put_load_slot(code, detour->code_addr, detour->slot, load.reg);
	n += put_load_through(code + n, &load);
	if (!x86_64_jump_encode(detour->code_addr + n, detour->insn_addr + detour->insn_len,
				code + n) ||
	    !x86_64_jump_encode(detour->insn_addr, detour->code_addr, insn))
		return false;
	memset(insn + X86_64_JUMP_LEN, OP_NOP, detour->insn_len - X86_64_JUMP_LEN);
	return true;
}
