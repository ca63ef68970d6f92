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

void x86_64_stub_encode(taddr at, taddr slot, uint8_t *code)
{
	static const uint8_t jmp_mem_rip[] = { 0xff, 0x25 };
	enum { LEN = sizeof(jmp_mem_rip) + sizeof(int32_t) };
	int32_t rel = (int32_t)(slot - (at + LEN));

	memcpy(code, jmp_mem_rip, sizeof(jmp_mem_rip));
	memcpy(code + sizeof(jmp_mem_rip), &rel, sizeof(rel));
	memset(code + LEN, OP_INT3, X86_64_STUB_LEN - LEN);
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
