// SPDX-License-Identifier: GPL-3.0-or-later
// jump.c - x86-64: the jump at a redirected function's entry, and the stub for calls out of reach

#include <string.h>

#include "arch/x86_64/x86_64.h"

enum { OP_JMP_REL32 = 0xe9, OP_INT3 = 0xcc, PREFIX_WORD = 0x66 };
/*
 * An instruction has at most this many bytes, prefixes that mean nothing among them (Intel SDM,
 * volume 2, 2.3.11).
 */
#define INSN_LONGEST 15

size_t x86_64_landing_mark(const uint8_t *code, size_t len)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return len >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)) ? sizeof(endbr64)
										 : 0;
}

bool x86_64_jump_encode(taddr from, taddr to, uint8_t *code)
{
	int64_t distance = (int64_t)(to - (from + X86_64_JUMP_LEN));
	int32_t rel = (int32_t)distance;

	if (rel != distance)
		return false;
	code[0] = OP_JMP_REL32;
	memcpy(code + 1, &rel, sizeof(rel));
	return true;
}

taddr x86_64_jump_target(taddr at, const uint8_t *code, size_t len)
{
	int32_t rel;

	if (len < X86_64_JUMP_LEN || code[0] != OP_JMP_REL32)
		return 0;
	memcpy(&rel, code + 1, sizeof(rel));
	return at + X86_64_JUMP_LEN + (taddr)(int64_t)rel;
}

/* An instruction of two bytes whose operand is a slot. */
enum { BY_SLOT_LEN = 2 + sizeof(int32_t) };
static const uint8_t jmp_slot[] = { 0xff, 0x25 }, push_slot[] = { 0xff, 0x35 };

static void by_slot(taddr at, const uint8_t op[2], taddr slot, uint8_t *code)
{
	int32_t rel = (int32_t)(slot - (at + BY_SLOT_LEN));

	memcpy(code, op, 2);
	memcpy(code + 2, &rel, sizeof(rel));
}

void x86_64_stub_encode(taddr at, taddr slot, uint8_t *code)
{
	by_slot(at, jmp_slot, slot, code);
	memset(code + BY_SLOT_LEN, OP_INT3, X86_64_STUB_LEN - BY_SLOT_LEN);
}

/* The place is pushed twice: once for the word that it takes away before it returns. */
void x86_64_return_stub_encode(taddr at, taddr function, taddr place, uint8_t *code)
{
	by_slot(at, push_slot, place, code);
	by_slot(at + BY_SLOT_LEN, push_slot, place, code + BY_SLOT_LEN);
	by_slot(at + 2 * BY_SLOT_LEN, jmp_slot, function, code + 2 * BY_SLOT_LEN);
	memset(code + 3 * BY_SLOT_LEN, OP_INT3, X86_64_RETURN_STUB_LEN - 3 * BY_SLOT_LEN);
}

taddr x86_64_return_stub_slot(taddr at, const uint8_t *code, size_t len)
{
	int32_t rel;

	if (len < 3 * BY_SLOT_LEN || memcmp(code, push_slot, 2) ||
	    memcmp(code + BY_SLOT_LEN, push_slot, 2) || memcmp(code + 2 * BY_SLOT_LEN, jmp_slot, 2))
		return 0;
	memcpy(&rel, code + 2 * BY_SLOT_LEN + 2, sizeof(rel));
	return at + 3 * BY_SLOT_LEN + (taddr)(int64_t)rel;
}

/*
 * A function that has nothing on its stack but the word that aligns it for its calls ends so. Its
 * call frame information at that call is true of a thread that has come by the stub, too. `_init`
 * of every program and library (glibc's crti.o), which calls `*%rax`, does as well.
 */
ssize_t x86_64_return_place(const uint8_t *code, size_t len, size_t *ret_len)
{
	static const uint8_t add_ret[] = { 0x48, 0x83, 0xc4, 0x08, 0xc3 }; /* add $8, %rsp; ret */
	static const uint8_t pop_ret[] = { 0x59, 0xc3 };                   /* pop %rcx; ret */
	enum { CALL_LEN = 5, OP_CALL_REL32 = 0xe8, OP_CALL_AX = 0xd0 };

	for (size_t at = CALL_LEN; at + sizeof(add_ret) <= len; at++) {
		bool adds = !memcmp(code + at, add_ret, sizeof(add_ret));

		if (!adds && memcmp(code + at, pop_ret, sizeof(pop_ret)))
			continue;
		if (code[at - CALL_LEN] != OP_CALL_REL32 &&
		    !(adds && code[at - 2] == 0xff && code[at - 1] == OP_CALL_AX))
			continue;
		*ret_len = adds ? sizeof(add_ret) : sizeof(pop_ret);
		return (ssize_t)at;
	}
	return -1;
}

bool x86_64_nop_encode(uint8_t *code, size_t len)
{
	/* Intel SDM, volume 2, NOP: the forms recommended for each length. */
	static const uint8_t nops[][9] = {
		{ 0x90 },
		{ 0x66, 0x90 },
		{ 0x0f, 0x1f, 0x00 },
		{ 0x0f, 0x1f, 0x40, 0x00 },
		{ 0x0f, 0x1f, 0x44, 0x00, 0x00 },
		{ 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 },
		{ 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00 },
		{ 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
		{ 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
	};

	if (!len || len > ARRAY_SIZE(nops))
		return false;
	memcpy(code, nops[len - 1], len);
	return true;
}

/*
 * What is before the last one becomes prefixes of it, which mean nothing there, whatever their
 * number.
 */
bool x86_64_nops_merge(uint8_t *code, size_t len, size_t have)
{
	size_t at = x86_64_landing_mark(code, have), last_at = 0;
	struct insn last = { 0 };

	for (; at < len; at += last.len) {
		if (!x86_64_insn_decode(code + at, have - at, &last) || !last.is_nop)
			return false;
		last_at = at;
	}
	if (!last_at || last_at + last.len > INSN_LONGEST)
		return false;
	memset(code, PREFIX_WORD, last_at);
	return true;
}

void x86_64_fill(uint8_t *code, size_t len)
{
	memset(code, OP_INT3, len);
}
