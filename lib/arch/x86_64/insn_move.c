// SPDX-License-Identifier: GPL-3.0-or-later
// insn_move.c - x86-64: one instruction, moved to another address
/*
 * Most instructions do the same anywhere. Others know where they are:
 *
 *     operand relative to %rip   the distance is adjusted
 *     jmp, jcc                   the long form, adjusted
 *     loop, jrcxz, jecxz         have no long form: they jump over a jump that is jumped over
 *     call                       push of the return address that the call would have pushed, and a
 *                                jump: code that looks at the stack finds what it expects
 *
 * Of other instructions that show their address to the program (xbegin, a breakpoint), and of
 * branches with prefixes that processors disagree about, the move is refused.
 */

#include <string.h>

#include "arch/trampoline.h"
#include "arch/x86_64/x86_64.h"

enum {
	OP_JCC_SHORT = 0x70,
	OP_JCC_NEAR = 0x80, /* after 0x0f */
	OP_PUSH_IMM32 = 0x68,
	OP_LOOPNE = 0xe0, /* loopne, loope, loop, jrcxz */
	OP_JRCXZ = 0xe3,
	OP_JMP_NEAR = 0xe9,
	OP_JMP_SHORT = 0xeb,
	OP_GROUP5 = 0xff, /* its /2 is call, /4 is jmp */
	PREFIX_OPERAND_SIZE = 0x66,
	PREFIX_ADDRESS_SIZE = 0x67,
	MODRM_CALL = 2 << 3,
	MODRM_JMP = 4 << 3,
	MODRM_REG = 7 << 3,
	RM_RSP = 4, /* as a register %rsp; in memory operands the sign of a SIB byte */
	SIB_BASE = 7,
};

/* An instruction on its way. */
struct move {
	taddr from, to;
	const uint8_t *code; /* at from */
	struct insn insn;
	uint8_t *out;
	size_t n; /* bytes of out */
};

static void put(struct move *move, const void *bytes, size_t len)
{
	memcpy(move->out + move->n, bytes, len);
	move->n += len;
}

static void put_byte(struct move *move, uint8_t byte)
{
	move->out[move->n++] = byte;
}

/* The 32-bit distance from the end of the bytes so far, itself included, to target. */
static int put_distance(struct move *move, taddr target, size_t behind, struct uspl_err *err)
{
	int64_t distance = (int64_t)(target - (move->to + move->n + sizeof(int32_t) + behind));
	int32_t rel = (int32_t)distance;

	if (rel != distance)
		return uspl_fail(err, USPL_E_OUT_OF_REACH,
				 "the first instruction refers to 0x%llx, too far from 0x%llx",
				 (unsigned long long)target, (unsigned long long)move->to);
	put(move, &rel, sizeof(rel));
	return 0;
}

static int put_jump(struct move *move, taddr target, struct uspl_err *err)
{
	put_byte(move, OP_JMP_NEAR);
	return put_distance(move, target, 0, err);
}

/* What a call would have pushed. pushq sign-extends its operand; the upper half is written then. */
static void put_return_address(struct move *move)
{
	static const uint8_t movl_4_rsp[] = { 0xc7, 0x44, 0x24, 0x04 };
	taddr back = move->from + move->insn.len;
	uint32_t low = (uint32_t)back, high = (uint32_t)(back >> 32);

	put_byte(move, OP_PUSH_IMM32);
	put(move, &low, sizeof(low));
	put(move, movl_4_rsp, sizeof(movl_4_rsp));
	put(move, &high, sizeof(high));
}

static int move_branch(struct move *move, struct uspl_err *err)
{
	taddr target = move->from + move->insn.len + (taddr)move->insn.rel;
	uint8_t op = move->code[move->insn.rel_off - 1];
	static const uint8_t over[] = { 2, OP_JMP_SHORT, 5 };

	if (move->insn.flow == INSN_CALL) {
		put_return_address(move);
		return put_jump(move, target, err);
	}
	if (move->insn.flow == INSN_JUMP)
		return put_jump(move, target, err);
	if (op >= OP_LOOPNE && op <= OP_JRCXZ) {
		put(move, move->code, move->insn.rel_off);
		put(move, over, sizeof(over));
		return put_jump(move, target, err);
	}
	put_byte(move, 0x0f);
	put_byte(move, (uint8_t)(OP_JCC_NEAR | (op & 0x0f)));
	return put_distance(move, target, 0, err);
}

/* The place of the opcode, behind the prefixes. */
static size_t opcode_at(const struct move *move)
{
	static const uint8_t prefixes[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
					    0x66, 0x67, 0xf0, 0xf2, 0xf3 };
	size_t at = 0;

	while (at < move->insn.len && memchr(prefixes, move->code[at], sizeof(prefixes)))
		at++;
	return at + ((move->code[at] & 0xf0) == 0x40);
}

static int move_plain(struct move *move, struct uspl_err *err)
{
	const struct insn *insn = &move->insn;
	size_t behind = insn->len - insn->disp_off - sizeof(int32_t);
	int32_t disp;

	if (!insn->pc_relative_mem) {
		put(move, move->code, insn->len);
		return 0;
	}
	memcpy(&disp, move->code + insn->disp_off, sizeof(disp));
	put(move, move->code, insn->disp_off);
	if (put_distance(move, move->from + insn->len + (taddr)(int64_t)disp, behind, err))
		return -USPL_E_OUT_OF_REACH;
	put(move, move->code + insn->disp_off + sizeof(disp), behind);
	return 0;
}

static int fail_form(const char *what, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "its first instruction is %s, which can't be moved", what);
}

/* call *operand: a push and the jump of the same operand, which must not depend on %rsp. */
static int move_indirect_call(struct move *move, struct uspl_err *err)
{
	size_t op = opcode_at(move), modrm_at;
	uint8_t modrm = move->code[op + 1];
	bool has_sib = modrm >> 6 != 3 && (modrm & 7) == RM_RSP;
	int rc;

	if (move->code[op] != OP_GROUP5 || (modrm & MODRM_REG) != MODRM_CALL)
		return fail_form("a far call", err);
	if ((modrm >> 6 == 3 && (modrm & 7) == RM_RSP) ||
	    (has_sib && (move->code[op + 2] & SIB_BASE) == RM_RSP))
		return fail_form("a call through the stack pointer", err);
	put_return_address(move);
	modrm_at = move->n + op + 1;
	/* The instruction lies behind the push now, its own length has not changed. */
	rc = move_plain(move, err);
	if (rc)
		return rc;
	move->out[modrm_at] = (uint8_t)((modrm & ~MODRM_REG) | MODRM_JMP);
	return 0;
}

/* What is known to go wrong. */
static int refuse(const struct move *move, struct uspl_err *err)
{
	static const uint8_t int3 = 0xcc, xbegin[] = { 0xc7, 0xf8 };
	const struct insn *insn = &move->insn;

	if (move->code[0] == int3)
		return fail_form("a breakpoint", err);
	if (insn->rel_size && insn->rel_off >= 2 &&
	    !memcmp(move->code + insn->rel_off - 2, xbegin, sizeof(xbegin)))
		return fail_form("xbegin", err);
	if (insn->rel_size && memchr(move->code, PREFIX_OPERAND_SIZE, insn->rel_off - 1))
		return fail_form("a branch with an operand size prefix", err);
	if (insn->pc_relative_mem && memchr(move->code, PREFIX_ADDRESS_SIZE, opcode_at(move)))
		return fail_form("relative to %eip", err);
	return 0;
}

int insn_move(taddr from, const uint8_t *code, size_t len, taddr to, uint8_t *moved,
	      size_t *ret_len, struct uspl_err *err)
{
	struct move move = { .from = from, .to = to, .code = code, .out = moved };
	int rc;

	if (!x86_64_insn_decode(code, len, &move.insn))
		return uspl_fail(err, USPL_E_UNSUPPORTED, "its first bytes are no instruction");
	rc = refuse(&move, err);
	if (rc)
		return rc;
	if (move.insn.rel_size) {
		rc = move_branch(&move, err);
		if (rc)
			return rc;
	} else if (move.insn.flow == INSN_CALL_INDIRECT) {
		rc = move_indirect_call(&move, err);
		if (rc)
			return rc;
	} else {
		rc = move_plain(&move, err);
		if (rc)
			return rc;
	}
	*ret_len = move.n;
	return move.insn.len;
}
