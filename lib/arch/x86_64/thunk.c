// SPDX-License-Identifier: GPL-3.0-or-later
// thunk.c - x86-64: the code in front of a traced function, and how unwinders pass through it
/*
 *     0   call  uspl_trace_call        0   call  uspl_trace_entry
 *     5   lea   8(%rsp), %rsp          5   jmp   body
 *    10   call  body                  10   .long id
 *    15   push  $id
 *    20   jmp   uspl_trace_return
 *
 * (uspl_profile_call, uspl_profile_return, uspl_count_entry where calls are added up.)
 *
 * A function that a listener is told of has a stub between the call of the body and the body
 * (`call` the listeners, `jmp body`, its id), and its thunk goes back by way of them.
 *
 * The call of the body takes the stack slot of the return address that it replaces (E), so the body
 * finds its stack arguments where it expects them. The address itself is in the shadow: at 2 * E
 * without bit USPL_TRACE_SHADOW_BIT, but for the bits in which the session's shadow differs.
 *
 * Unwinding. One record with a rule that depends on the program counter serves all thunks, as the
 * linker does it for a PLT. With o the offset in the thunk, the stack pointer is E at 0 <= o < 10
 * and o >= 20, and E + 8 in between. The CFA is given as E + 9 and the caller's stack pointer as
 * CFA - 1: libgcc knows a frame by its CFA, and the body's frame ends at E + 8 as well. With equal
 * ones a search for a handler would stop at the thunk. Where several thunks stand before one
 * function, each has a number of its own, which is added to the CFA.
 */

#include <string.h>

#include "arch/x86_64/x86_64.h"
#include "uspl/listen_abi.h"

enum {
	OP_CALL_REL32 = 0xe8,
	OP_JMP_REL32 = 0xe9,
	OP_PUSH_IMM32 = 0x68,
	OP_INT3 = 0xcc,
	BRANCH_LEN = 5,
	PUSH_AT = 15,
	NOTED_AT = 10, /* from here on the return address is in the shadow */
	PUSHED_AT = 20,
};

_Static_assert(PUSH_AT == USPL_TRACE_THUNK_RETURN, "the runtime knows thunks by it");
_Static_assert(PUSHED_AT == USPL_TRACE_THUNK_PUSHED, "unwinders go on there");

/* Writes a call or a jump at code, which will lie at `at`; false if out of reach. */
static bool branch_at(uint8_t op, taddr at, taddr to, uint8_t *code)
{
	int64_t distance = (int64_t)(to - (at + BRANCH_LEN));
	int32_t rel = (int32_t)distance;

	code[0] = op;
	memcpy(code + 1, &rel, sizeof(rel));
	return rel == distance;
}

/* The same at an offset of a thunk. */
static bool branch(uint8_t op, const struct thunk *thunk, size_t off, taddr to, uint8_t *code)
{
	return branch_at(op, thunk->at + off, to, code + off);
}

/* Where a part of the runtime is in its copy. */
static taddr part(const struct thunk *thunk, const uint8_t *symbol)
{
	return thunk->runtime + (taddr)(symbol - uspl_trace_begin);
}

uint64_t x86_64_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

const uint8_t *x86_64_trace_runtime(size_t *ret_len)
{
	*ret_len = (size_t)(uspl_trace_end - uspl_trace_begin);
	return uspl_trace_begin;
}

/* Where the thunk goes when the body has returned. */
static taddr way_back(const struct thunk *thunk)
{
	taddr listen = thunk->runtime + USPL_LISTEN_CODE;

	if (thunk->leave)
		return thunk->leave;
	if (thunk->summed)
		return part(thunk, uspl_profile_return);
	if (thunk->heard)
		return listen + (thunk->limited ? USPL_LISTEN_LEAVE_LIMITED : USPL_LISTEN_LEAVE);
	return part(thunk, thunk->limited ? uspl_trace_return_limited : uspl_trace_return);
}

bool x86_64_thunk_call(const struct thunk *thunk, uint8_t *code)
{
	static const uint8_t lea_8_rsp[] = { 0x48, 0x8d, 0x64, 0x24, 0x08 };
	const uint8_t *enter = thunk->leave     ? uspl_mark_call
			       : thunk->summed  ? uspl_profile_call
			       : thunk->limited ? uspl_trace_call_limited
						: uspl_trace_call;

	memset(code, OP_INT3, USPL_TRACE_THUNK);
	memcpy(code + BRANCH_LEN, lea_8_rsp, sizeof(lea_8_rsp));
	code[PUSH_AT] = OP_PUSH_IMM32;
	memcpy(code + PUSH_AT + 1, &thunk->id, sizeof(thunk->id));
	return branch(OP_CALL_REL32, thunk, 0, part(thunk, enter), code) &&
	       branch(OP_CALL_REL32, thunk, NOTED_AT, thunk->body, code) &&
	       branch(OP_JMP_REL32, thunk, PUSHED_AT, way_back(thunk), code);
}

bool x86_64_thunk_bare(const struct thunk *thunk, uint8_t *code)
{
	memset(code, OP_INT3, USPL_TRACE_THUNK);
	return branch(OP_JMP_REL32, thunk, 0, thunk->body, code);
}

bool x86_64_thunk_flag(const struct thunk *thunk, uint8_t *code)
{
	enum { IS_SET = 0, SET = 13, GO = 20 };
	static const uint8_t bytes[] = {
		[IS_SET] = 0x80,
		0x3d,
		0,
		0,
		0,
		0,
		0, /* cmpb $0, flag */
		0x0f,
		0x85,
		0,
		0,
		0,
		0, /* jne body */
		[SET] = 0xc6,
		0x05,
		0,
		0,
		0,
		0,
		1, /* movb $1, flag */
	};
	int64_t is_set = (int64_t)(thunk->flag - (thunk->at + SET - 6));
	int64_t set = (int64_t)(thunk->flag - (thunk->at + GO));
	int64_t body = (int64_t)(thunk->body - (thunk->at + SET));
	const int32_t rels[] = { (int32_t)is_set, (int32_t)body, (int32_t)set };

	memset(code, OP_INT3, USPL_TRACE_THUNK);
	memcpy(code, bytes, sizeof(bytes));
	memcpy(code + 2, &rels[0], sizeof(*rels));
	memcpy(code + SET - sizeof(*rels), &rels[1], sizeof(*rels));
	memcpy(code + SET + 2, &rels[2], sizeof(*rels));
	return is_set == rels[0] && body == rels[1] && set == rels[2] &&
	       branch(OP_JMP_REL32, thunk, GO, thunk->body, code);
}

bool x86_64_thunk_stub(const struct thunk *thunk, taddr at, uint8_t *code)
{
	taddr enter = thunk->runtime + USPL_LISTEN_CODE + USPL_LISTEN_ENTER;

	memcpy(code + BRANCH_LEN + USPL_LISTEN_STUB_ID, &thunk->id, sizeof(thunk->id));
	return branch_at(OP_CALL_REL32, at, enter, code) &&
	       branch_at(OP_JMP_REL32, at + BRANCH_LEN, thunk->body, code + BRANCH_LEN);
}

const uint8_t *x86_64_listen_code(size_t *ret_len)
{
	*ret_len = (size_t)(uspl_listen_code_end - uspl_listen_code_begin);
	return uspl_listen_code_begin;
}

const uint8_t *x86_64_constructor_code(size_t *ret_len)
{
	*ret_len = (size_t)(uspl_constructors_end - uspl_constructors_begin);
	return uspl_constructors_begin;
}

bool x86_64_thunk_entry(const struct thunk *thunk, uint8_t *code)
{
	memset(code, OP_INT3, USPL_TRACE_THUNK);
	memcpy(code + 2 * BRANCH_LEN, &thunk->id, sizeof(thunk->id));
	return branch(OP_CALL_REL32, thunk, 0,
		      part(thunk, thunk->summed ? uspl_count_entry : uspl_trace_entry), code) &&
	       branch(OP_JMP_REL32, thunk, BRANCH_LEN, thunk->body, code);
}

/* DWARF 5, 6.4.2 and 2.5.1; the numbers of registers: System V ABI for x86-64, figure 3.36. */
enum {
	DW_CFA_expression = 0x10,
	DW_CFA_def_cfa_expression = 0x0f,
	DW_CFA_val_expression = 0x16,
	DW_OP_const1u = 0x08,
	DW_OP_const8u = 0x0e,
	DW_OP_dup = 0x12,
	DW_OP_over = 0x14,
	DW_OP_swap = 0x16,
	DW_OP_and = 0x1a,
	DW_OP_minus = 0x1c,
	DW_OP_mul = 0x1e,
	DW_OP_or = 0x21,
	DW_OP_plus = 0x22,
	DW_OP_shl = 0x24,
	DW_OP_xor = 0x27,
	DW_OP_ge = 0x2a,
	DW_OP_lt = 0x2d,
	DW_OP_lit0 = 0x30,
	DW_OP_breg7 = 0x77,  /* %rsp */
	DW_OP_breg16 = 0x80, /* %rip */
	REG_RSP = 7,
	REG_RA = 16,
	PCREL_SDATA8 = 0x1c,
};

#define OFFSET_IN_THUNK DW_OP_breg16, 0, DW_OP_lit0 + 31, DW_OP_and

/* rsp, and 8 more while the stack pointer is E: o < 10 or o >= 20. 1 + number is to be added. */
static const uint8_t cfa_rule_head[] = {
	DW_OP_breg7,
	0,
	OFFSET_IN_THUNK,
	DW_OP_dup,
	DW_OP_lit0 + NOTED_AT,
	DW_OP_lt,
	DW_OP_swap,
	DW_OP_lit0 + PUSHED_AT,
	DW_OP_ge,
	DW_OP_or,
	DW_OP_lit0 + 3,
	DW_OP_shl,
	DW_OP_plus,
};

/*
 * CFA - 9 - number is E; from o >= 10 on the address is in the shadow: E + (o >= 10) * (shadow -
 * E). The mask follows DW_OP_const8u, and what the session's shadow differs by comes in between.
 */
static const uint8_t ra_rule_head[] = { DW_OP_minus, DW_OP_dup, DW_OP_dup, DW_OP_plus,
					DW_OP_const8u };
static const uint8_t ra_rule_middle[] = { DW_OP_and, DW_OP_const8u };
static const uint8_t ra_rule_tail[] = {
	DW_OP_xor, DW_OP_over, DW_OP_minus, OFFSET_IN_THUNK, DW_OP_lit0 + NOTED_AT,
	DW_OP_ge,  DW_OP_mul,  DW_OP_plus
};

static void add_rule(struct buf *buf, uint8_t op, int reg, const uint8_t *expr, size_t len)
{
	uint8_t head[3] = { op };
	size_t n = 1;

	if (reg >= 0)
		head[n++] = (uint8_t)reg;
	head[n++] = (uint8_t)len;
	buf_add(buf, head, n);
	buf_add(buf, expr, len);
}

static void add_rules(struct buf *buf, unsigned number, uint64_t shadow)
{
	/* From the CFA on the stack. */
	const uint8_t rsp_rule[] = { (uint8_t)(DW_OP_lit0 + 1 + number), DW_OP_minus };
	const uint8_t cfa_tail[] = { (uint8_t)(DW_OP_lit0 + 1 + number), DW_OP_plus };
	const uint8_t ra_from_cfa = (uint8_t)(DW_OP_lit0 + 9 + number);
	uint64_t mask = ~(1ull << USPL_TRACE_SHADOW_BIT);
	auto_buf struct buf cfa = { 0 }, ra = { 0 };

	buf_add(&cfa, cfa_rule_head, sizeof(cfa_rule_head));
	buf_add(&cfa, cfa_tail, sizeof(cfa_tail));
	add_rule(buf, DW_CFA_def_cfa_expression, -1, (const uint8_t *)cfa.data, cfa.len);
	add_rule(buf, DW_CFA_val_expression, REG_RSP, rsp_rule, sizeof(rsp_rule));
	buf_add(&ra, &ra_from_cfa, 1);
	buf_add(&ra, ra_rule_head, sizeof(ra_rule_head));
	buf_add(&ra, &mask, sizeof(mask));
	buf_add(&ra, ra_rule_middle, sizeof(ra_rule_middle));
	buf_add(&ra, &shadow, sizeof(shadow));
	buf_add(&ra, ra_rule_tail, sizeof(ra_rule_tail));
	add_rule(buf, DW_CFA_expression, REG_RA, (const uint8_t *)ra.data, ra.len);
	buf->oom |= cfa.oom || ra.oom;
}

/* Fills in the length of the entry that begins at `start`, padded to 8 bytes. */
static void end_entry(struct buf *buf, size_t start)
{
	uint32_t len;

	buf_align(buf, 8);
	if (buf->oom)
		return;
	len = (uint32_t)(buf->len - start - sizeof(len));
	memcpy(buf->data + start, &len, sizeof(len));
}

void x86_64_thunk_frames(struct buf *section, taddr at, taddr start, uint64_t len, unsigned number,
			 uint64_t shadow)
{
	/*
	 * Length, CIE id, version 1, "zR", code alignment 1, data alignment -8, RA, augmentation.
	 */
	static const uint8_t cie[] = { 0,   0,   0, 0, 0,    0,      0, 0,           1,
				       'z', 'R', 0, 1, 0x78, REG_RA, 1, PCREL_SDATA8 };
	size_t cie_at = section->len, fde_at;
	uint32_t back;
	int64_t distance;
	uint8_t no_augmentation = 0;

	buf_add(section, cie, sizeof(cie));
	add_rules(section, number, shadow);
	end_entry(section, cie_at);
	fde_at = section->len;
	back = (uint32_t)(fde_at + 4 - cie_at);
	buf_addzero(section, 4);
	buf_add(section, &back, sizeof(back));
	distance = (int64_t)(start - (at + section->len));
	buf_add(section, &distance, sizeof(distance));
	buf_add(section, &len, sizeof(len));
	buf_add(section, &no_augmentation, 1);
	end_entry(section, fde_at);
	buf_addzero(section, 4);
}
