// SPDX-License-Identifier: GPL-3.0-or-later
// tls_code.c - x86-64: accesses to thread-local variables that are more than one instruction
/*
 * Position independent code finds a thread-local variable by a call. The psABI ("Thread-Local
 * Storage" and its optimizations) fixes the instructions, so that a linker which knows the
 * variable's offset from the thread pointer can put others in their place, of the same length:
 *
 *	general dynamic   data16 lea x@TLSGD(%rip), %rdi        mov  %fs:0, %rax
 *	                  data16 data16 rex.W call get          lea  x@TPOFF(%rax), %rax
 *	                  (or data16 rex.W call *get@GOT)       (or add x@GOTTPOFF(%rip), %rax)
 *	local dynamic     lea  x@TLSLD(%rip), %rdi              data16... mov %fs:0, %rax
 *	                  call get (or call *get@GOT)
 *	descriptor        lea  x@TLSDESC(%rip), %reg            mov  $x@TPOFF, %reg
 *	                                                        (or mov x@GOTTPOFF(%rip), %reg)
 *	                  call *(%reg)                          xchg %ax, %ax
 *
 * The two halves of a descriptor's access need not be neighbours; each is rewritten for itself. The
 * large code model calls through a register and is never rewritten.
 */

#include <cpuid.h>
#include <elf.h>
#include <string.h>

#include "arch/x86_64/x86_64.h"

enum { DATA16 = 0x66, FIELD = 4, GD_LEN = 16, GD_TAIL = 9, DESC_LEN = 7 };

static const uint8_t gd_lea[] = { 0x66, 0x48, 0x8d, 0x3d };
static const uint8_t gd_call[] = { 0x66, 0x66, 0x48, 0xe8 };
static const uint8_t gd_call_got[] = { 0x66, 0x48, 0xff, 0x15 };
static const uint8_t ld_lea[] = { 0x48, 0x8d, 0x3d };
static const uint8_t ld_call[] = { 0xe8 };
static const uint8_t ld_call_got[] = { 0xff, 0x15 };
static const uint8_t mov_fs0_rax[] = { 0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0 };
static const uint8_t lea_rax[] = { 0x48, 0x8d, 0x80 };
static const uint8_t add_got_rax[] = { 0x48, 0x03, 0x05 };

static bool begins(const uint8_t *code, size_t len, const uint8_t *with, size_t with_len)
{
	return len >= with_len && !memcmp(code, with, with_len);
}
#define BEGINS(code, len, with) begins(code, len, with, sizeof(with))

/* lea field(%rip), %rdi and a call with one more field: the length of both, 0 if it isn't that. */
static uint8_t call_sequence(const uint8_t *code, size_t len, size_t lea_len, const uint8_t *call,
			     size_t call_len)
{
	size_t at = lea_len + FIELD;

	if (len < at + call_len + FIELD || memcmp(code + at, call, call_len))
		return 0;
	return (uint8_t)(at + call_len + FIELD);
}

static uint8_t gd_len(const uint8_t *code, size_t len)
{
	uint8_t n;

	if (!BEGINS(code, len, gd_lea))
		return 0;
	n = call_sequence(code, len, sizeof(gd_lea), gd_call, sizeof(gd_call));
	return n ? n : call_sequence(code, len, sizeof(gd_lea), gd_call_got, sizeof(gd_call_got));
}

static uint8_t ld_len(const uint8_t *code, size_t len)
{
	uint8_t n;

	if (!BEGINS(code, len, ld_lea))
		return 0;
	n = call_sequence(code, len, sizeof(ld_lea), ld_call, sizeof(ld_call));
	return n ? n : call_sequence(code, len, sizeof(ld_lea), ld_call_got, sizeof(ld_call_got));
}

/* lea field(%rip), %reg, 64 bits wide. */
static bool is_desc(const uint8_t *code, size_t len)
{
	return len >= DESC_LEN && (code[0] & 0xfb) == 0x48 && code[1] == 0x8d &&
	       (code[2] & 0xc7) == 0x05;
}

static bool is_gd_relaxed(const uint8_t *run, size_t len, struct tls_form *ret)
{
	const uint8_t *tail = run + GD_TAIL;

	if (len < GD_LEN || !BEGINS(run, len, mov_fs0_rax))
		return false;
	ret->off = GD_TAIL + sizeof(lea_rax);
	if (BEGINS(tail, len - GD_TAIL, lea_rax))
		ret->kind = RELOC_TPOFF;
	else if (BEGINS(tail, len - GD_TAIL, add_got_rax))
		ret->kind = RELOC_GOTTPOFF;
	else
		return false;
	return true;
}

static bool is_ld_relaxed(const uint8_t *run, size_t len, size_t want)
{
	size_t fill = want - sizeof(mov_fs0_rax);

	for (size_t i = 0; i < fill; i++)
		if (i >= len || run[i] != DATA16)
			return false;
	return BEGINS(run + fill, len - fill, mov_fs0_rax);
}

static bool is_desc_relaxed(const uint8_t *pre, const uint8_t *run, size_t len,
			    struct tls_form *ret)
{
	uint8_t reg = (uint8_t)(pre[2] >> 3 & 7), high = (uint8_t)(pre[0] >> 2 & 1);

	if (len < DESC_LEN)
		return false;
	ret->off = DESC_LEN - FIELD;
	ret->kind = run[1] == 0x8b ? RELOC_GOTTPOFF : RELOC_TPOFF;
	if (ret->kind == RELOC_GOTTPOFF)
		return run[0] == pre[0] && run[2] == pre[2];
	return run[0] == (0x48 | high) && run[1] == 0xc7 && run[2] == (0xc0 | reg);
}

bool x86_64_tls_relaxed(uint32_t type, const uint8_t *pre, size_t pre_len, const uint8_t *run,
			size_t run_len, struct tls_form *ret)
{
	switch (type) {
	case R_X86_64_TLSGD:
		ret->len = gd_len(pre, pre_len);
		return ret->len && is_gd_relaxed(run, run_len, ret);
	case R_X86_64_TLSLD:
		ret->len = ld_len(pre, pre_len);
		ret->off = 0;
		ret->kind = RELOC_NONE;
		return ret->len && is_ld_relaxed(run, run_len, ret->len);
	case R_X86_64_GOTPC32_TLSDESC:
		ret->len = DESC_LEN;
		return is_desc(pre, pre_len) && is_desc_relaxed(pre, run, run_len, ret);
	default:
		return false;
	}
}

static uint64_t relax_gd(uint8_t *code, size_t len, struct tls_form *ret)
{
	if (!gd_len(code, len))
		return 0;
	memcpy(code, mov_fs0_rax, sizeof(mov_fs0_rax));
	memcpy(code + GD_TAIL, lea_rax, sizeof(lea_rax));
	ret->off = GD_TAIL + sizeof(lea_rax);
	ret->kind = RELOC_TPOFF;
	return GD_LEN;
}

static uint64_t relax_ld(uint8_t *code, size_t len, struct tls_form *ret)
{
	uint8_t n = ld_len(code, len);
	size_t fill = n ? n - sizeof(mov_fs0_rax) : 0;

	if (!n)
		return 0;
	memset(code, DATA16, fill);
	memcpy(code + fill, mov_fs0_rax, sizeof(mov_fs0_rax));
	ret->off = 0;
	ret->kind = RELOC_NONE;
	return n;
}

static uint64_t relax_desc(uint8_t *code, size_t len, struct tls_form *ret)
{
	if (!is_desc(code, len))
		return 0;
	code[0] = (uint8_t)(0x48 | (code[0] >> 2 & 1));
	code[1] = 0xc7;
	code[2] = (uint8_t)(0xc0 | (code[2] >> 3 & 7));
	ret->off = DESC_LEN - FIELD;
	ret->kind = RELOC_TPOFF;
	return DESC_LEN;
}

/* call *(%reg) with its optional prefix; the marker stands at its beginning. */
static uint64_t relax_desc_call(uint8_t *code, size_t len, struct tls_form *ret)
{
	static const uint8_t nop[] = { 0x66, 0x90 };

	if (len < sizeof(nop) || code[0] != 0xff || (code[1] & 0xf8) != 0x10)
		return 0;
	memcpy(code, nop, sizeof(nop));
	ret->off = 0;
	ret->kind = RELOC_NONE;
	return sizeof(nop);
}

bool x86_64_tls_relax(uint32_t type, uint8_t *code, uint64_t field, uint64_t len,
		      struct tls_form *ret)
{
	static const struct {
		uint32_t type;
		uint8_t before; /* the field */
		uint64_t (*relax)(uint8_t *code, size_t len, struct tls_form *ret);
	} forms[] = {
		{ R_X86_64_TLSGD, sizeof(gd_lea), relax_gd },
		{ R_X86_64_TLSLD, sizeof(ld_lea), relax_ld },
		{ R_X86_64_GOTPC32_TLSDESC, DESC_LEN - FIELD, relax_desc },
		{ R_X86_64_TLSDESC_CALL, 0, relax_desc_call },
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		uint64_t start = field - forms[i].before;

		if (forms[i].type != type || field < forms[i].before || start > len)
			continue;
		ret->len = (uint8_t)forms[i].relax(code + start, len - start, ret);
		ret->start = start;
		return ret->len != 0;
	}
	return false;
}

bool x86_64_has_threads(void)
{
	unsigned int a, b, c = 0, d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE);
}
