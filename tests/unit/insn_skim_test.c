// SPDX-License-Identifier: GPL-3.0-or-later
// insn_skim_test.c - what is said of an instruction at a glance is what the decoder says of it

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/file.h"
#include "tap.h"

static bool agree(const struct insn *a, const struct insn *b)
{
	return a->len == b->len && a->flow == b->flow && a->rel == b->rel &&
	       a->is_syscall == b->is_syscall && a->rel_size == b->rel_size &&
	       (!a->rel_size || a->rel_off == b->rel_off) && a->imm_size == b->imm_size &&
	       (!a->imm_size || a->imm_off == b->imm_off) && a->disp_size == b->disp_size &&
	       (!a->disp_size || a->disp_off == b->disp_off) &&
	       a->pc_relative_mem == b->pc_relative_mem;
}

/* True if both say the same of what begins there; *ret_len: how long it is, 0 if it is nothing. */
static bool is_same(const uint8_t *code, size_t len, size_t *ret_len)
{
	struct insn fast = { 0 }, slow = { 0 };
	bool is_fast = arch_native()->insn_skim(code, len, &fast);
	bool is_slow = arch_native()->insn_decode(code, len, &slow);

	*ret_len = is_slow ? slow.len : 0;
	return is_fast == is_slow && (!is_slow || agree(&fast, &slow));
}

static void show(const uint8_t *code)
{
	printf("# at");
	for (size_t i = 0; i < 15; i++)
		printf(" %02x", code[i]);
	printf("\n");
}

/* Of all bytes of a library: code, and what would be code if it were read as such. */
static void test_library(const char *path)
{
	auto_buf struct buf file = { 0 };
	size_t wrong = 0, len;

	if (file_read(path, &file, NULL) != 0) {
		printf("# there is no '%s'\n", path);
		return;
	}
	for (size_t at = 0; at + 16 <= file.len; at++)
		if (!is_same((const uint8_t *)file.data + at, 16, &len) && !wrong++)
			show((const uint8_t *)file.data + at);
	ok(!wrong, "%zu of %zu places of '%s' are told otherwise", wrong, file.len, path);
}

/* Every opcode and prefix with every operand byte, and what follows at random. */
static void test_random(void)
{
	static const uint8_t prefixes[] = { 0, 0x66, 0xf2, 0xf3, 0x48, 0x41, 0x64, 0xf0, 0x67 };
	size_t wrong = 0, n = 0, len;
	uint8_t code[16];

	srandom(1);
	for (size_t i = 0; i < sizeof(prefixes) * sizeof(prefixes) * 2 * 65536; i++) {
		size_t at = 0, kind = i / 65536;
		uint8_t first = prefixes[kind / 2 % sizeof(prefixes)];
		uint8_t second = prefixes[kind / 2 / sizeof(prefixes)];

		for (size_t j = 0; j < sizeof(code); j++)
			code[j] = (uint8_t)random();
		if (second)
			code[at++] = second;
		if (first)
			code[at++] = first;
		if (kind & 1)
			code[at++] = 0x0f;
		code[at++] = (uint8_t)(i >> 8);
		code[at++] = (uint8_t)i;
		n++;
		if (!is_same(code, sizeof(code), &len) && wrong++ < 20)
			show(code);
	}
	ok(!wrong, "%zu of %zu instructions are told otherwise", wrong, n);
}

/* At the end of what there is. */
static void test_cut(void)
{
	static const uint8_t code[] = { 0x48, 0x8b, 0x84, 0x24, 1, 2, 3, 4, 0xe8, 1, 2, 3, 4 };
	size_t wrong = 0, len;

	for (size_t from = 0; from < sizeof(code); from++)
		for (size_t n = 0; from + n <= sizeof(code); n++)
			wrong += !is_same(code + from, n, &len);
	ok(!wrong, "what is cut short is no instruction");
}

int main(void)
{
	test_cut();
	test_random();
	test_library("/proc/self/exe");
	test_library("/lib/x86_64-linux-gnu/libc.so.6");
	test_library("/usr/lib64/libc.so.6");
	return tap_done();
}
