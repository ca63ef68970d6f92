// SPDX-License-Identifier: GPL-3.0-or-later
// relax.c - x86-64: recognising what the linker made of an access through the GOT
//
// psABI, "Optimize GOTPCRELX Relocations" and "Thread-Local Storage", as far as one instruction
// stays one instruction:
//
//	before                            after, relative to the pc     after, absolute (not PIE)
//	mov   foo@GOTPCREL(%rip), %reg    lea  foo(%rip), %reg          mov  $foo, %reg
//	test  %reg, foo@GOTPCREL(%rip)                                  test $foo, %reg
//	binop foo@GOTPCREL(%rip), %reg                                  binop $foo, %reg
//	call  *foo@GOTPCREL(%rip)         addr32 call foo, or call foo and a nop
//	jmp   *foo@GOTPCREL(%rip)         jmp  foo, and a nop
//
//	mov   foo@GOTTPOFF(%rip), %reg                                  mov  $foo@TPOFF, %reg
//	add   foo@GOTTPOFF(%rip), %reg    lea  foo@TPOFF(%reg), %reg    add  $foo@TPOFF, %reg
//
// All instructions before have the form [REX] opcode modrm disp32. A register moves from the
// modrm's reg field (REX.R) to its r/m field (REX.B) where it becomes the destination of an
// instruction with a constant.

#include <elf.h>

#include "arch/x86_64/x86_64.h"

enum { REX_W = 8, REX_R = 4, REX_B = 1 };

/* [REX] opcode modrm, taken apart. */
struct form {
	uint8_t rex, opcode, mod, reg, rm; /* reg and rm with their REX bit */
	uint8_t len;                       /* up to and with the modrm */
};

static struct form form_of(const uint8_t *code)
{
	struct form form = { 0 };
	uint8_t modrm;

	if ((code[0] & 0xf0) == 0x40)
		form.rex = code[form.len++];
	form.opcode = code[form.len++];
	modrm = code[form.len++];
	form.mod = modrm >> 6;
	form.reg = (uint8_t)(((modrm >> 3) & 7) | (form.rex & REX_R ? 8 : 0));
	form.rm = (uint8_t)((modrm & 7) | (form.rex & REX_B ? 8 : 0));
	return form;
}

static bool found(struct relaxed_insn *ret, uint8_t off, enum reloc_kind kind)
{
	ret->off = off;
	ret->kind = kind;
	return true;
}

/*
 * Is run `opcode $constant, %reg` with the register that pre has in its reg field, and operation
 * `ext`?
 */
static bool became_constant(const struct form *pre, const struct form *run, uint8_t opcode,
			    uint8_t ext)
{
	return run->opcode == opcode && run->mod == 3 && (run->reg & 7) == ext &&
	       run->rm == pre->reg && (run->rex & REX_W) == (pre->rex & REX_W);
}

/*
 * mov, test, and the eight binary operations (0x03, 0x0b, ... 0x3b), which are numbered alike in
 * opcode 0x81.
 */
static bool relaxed_to_constant(const struct form *pre, const struct form *run)
{
	if (pre->opcode == 0x8b)
		return became_constant(pre, run, 0xc7, 0);
	if (pre->opcode == 0x85)
		return became_constant(pre, run, 0xf7, 0);
	return (pre->opcode & 0xc7) == 0x03 &&
	       became_constant(pre, run, 0x81, (pre->opcode >> 3) & 7);
}

static bool relaxed_got(const struct form *pre, const struct form *run, const struct insn *run_insn,
			struct relaxed_insn *ret)
{
	if (pre->opcode == 0x8b && run->opcode == 0x8d && run->reg == pre->reg &&
	    run->rex == pre->rex && run_insn->pc_relative_mem)
		return found(ret, run_insn->disp_off, RELOC_PCREL);
	if (run_insn->imm_size == 4 && relaxed_to_constant(pre, run))
		return found(ret, run_insn->imm_off, RELOC_ABS);
	return false;
}

static bool relaxed_tls(const struct form *pre, const struct form *run, const struct insn *run_insn,
			struct relaxed_insn *ret)
{
	/* lea off(%reg), %reg: mod 2, both registers the same. */
	if (pre->opcode == 0x03 && run->opcode == 0x8d && run->mod == 2 && run->reg == pre->reg &&
	    run->rm == pre->reg && run_insn->disp_size == 4)
		return found(ret, run_insn->disp_off, RELOC_TPOFF);
	if ((pre->opcode == 0x8b || pre->opcode == 0x03) && run_insn->imm_size == 4 &&
	    relaxed_to_constant(pre, run))
		return found(ret, run_insn->imm_off, RELOC_TPOFF);
	return false;
}

bool x86_64_insn_relaxed(uint32_t type, const uint8_t *pre, const struct insn *pre_insn,
			 const uint8_t *run, const struct insn *run_insn, struct relaxed_insn *ret)
{
	struct form pre_form, run_form;

	if (!pre_insn->pc_relative_mem)
		return false;
	if ((pre_insn->flow == INSN_CALL_INDIRECT && run_insn->flow == INSN_CALL) ||
	    (pre_insn->flow == INSN_JUMP_INDIRECT && run_insn->flow == INSN_JUMP))
		return type == R_X86_64_GOTPCRELX && run_insn->rel_size == 4 &&
		       found(ret, run_insn->rel_off, RELOC_PCREL);
	if (pre_insn->flow != INSN_PLAIN || run_insn->flow != INSN_PLAIN || pre_insn->len < 6 ||
	    run_insn->len < 6)
		return false;
	pre_form = form_of(pre);
	run_form = form_of(run);
	/* Prefixes other than REX, and longer opcodes, are never relaxed. */
	if (pre_form.len + 4 != pre_insn->len)
		return false;
	switch (type) {
	case R_X86_64_GOTPCREL:
	case R_X86_64_GOTPCRELX:
	case R_X86_64_REX_GOTPCRELX:
		return relaxed_got(&pre_form, &run_form, run_insn, ret);
	case R_X86_64_GOTTPOFF:
		return relaxed_tls(&pre_form, &run_form, run_insn, ret);
	default:
		return false;
	}
}
