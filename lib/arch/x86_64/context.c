// SPDX-License-Identifier: GPL-3.0-or-later
// context.c - x86-64: how C libraries leave a program counter in memory

#include "arch/context.h"

#include <string.h>

#include "arch/x86_64/x86_64.h"

#define MANGLE_ROTATION 17 /* 2 * sizeof(long) + 1 */
#define CALL_MIN 2         /* call *%rax */

taddr context_demangle(uint64_t word, uint64_t guard)
{
	return (word >> MANGLE_ROTATION | word << (64 - MANGLE_ROTATION)) ^ guard;
}

size_t context_find(const struct context_query *query, const uint64_t *words, size_t n, size_t from)
{
	uint64_t span = query->end - query->start;

	for (size_t i = from; i < n; i++)
		if (words[i] - query->start < span ||
		    (query->mangled &&
		     context_demangle(words[i], query->guard) - query->start < span))
			return i;
	return n;
}

bool context_ends_call(const uint8_t *bytes, size_t len)
{
	for (size_t n = CALL_MIN; n <= len && n <= CONTEXT_CALL_MAX; n++) {
		struct insn insn;

		if (arch_native()->insn_decode(bytes + len - n, n, &insn) && insn.len == n &&
		    (insn.flow == INSN_CALL || insn.flow == INSN_CALL_INDIRECT))
			return true;
	}
	return false;
}

bool context_is_base(const uint8_t *bytes, size_t len)
{
	/* mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi: glibc's __start_context. */
	static const uint8_t start[CONTEXT_BASE_LEN] = { 0x48, 0x89, 0xdc, 0x48, 0x8b,
							 0x3c, 0x24, 0x48, 0x85, 0xff };

	return len >= sizeof(start) && !memcmp(bytes, start, sizeof(start));
}

taddr context_return_slot(taddr sp)
{
	return sp - sizeof(taddr);
}
