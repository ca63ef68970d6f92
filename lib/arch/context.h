/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * context.h - how C libraries leave a program counter in memory, to go on from there later
 *
 * setjmp, getcontext and swapcontext all store the stack pointer in the word before the program
 * counter, and both are those of the moment after the call has returned; musl stores them as they
 * are, and so does glibc in a ucontext_t. In a jmp_buf, glibc mangles both with the program's
 * pointer guard (sysdeps/unix/sysv/linux/x86_64/pointer_guard.h).
 */
#ifndef USPL_ARCH_CONTEXT_H
#define USPL_ARCH_CONTEXT_H

#include "base/types.h"

/* Where the other words are, counted from the program counter's. */
#define CONTEXT_SP (-1)
#define CONTEXT_FP (-6)
/* How many words of a context are looked at: [CONTEXT_FP, 0]. */
#define CONTEXT_WORDS 7

/* Addresses that are looked for, [start, end), plain or mangled. */
struct context_query {
	taddr start, end;
	uint64_t guard;
	bool mangled; /* guard is known */
};

/* What a mangled word stands for. */
taddr context_demangle(uint64_t word, uint64_t guard);
/* The index of the next word that may be such an address, from `from` on; n if there is none. */
size_t context_find(const struct context_query *query, const uint64_t *words, size_t n,
		    size_t from);
/* True if a call instruction may end where these bytes end. */
bool context_ends_call(const uint8_t *bytes, size_t len);
/* The longest call instruction that context_ends_call looks for. */
#define CONTEXT_CALL_MAX 8
/*
 * True for what glibc's makecontext lets the first function on a stack return to, by the code
 * there: no call leads to it, and it goes on with another context. glibc doesn't mark it as the
 * outermost frame.
 */
bool context_is_base(const uint8_t *bytes, size_t len);
/* So many bytes are enough to tell. */
#define CONTEXT_BASE_LEN 10
/* Where a call has put its return address, by the stack pointer after it has returned. */
taddr context_return_slot(taddr sp);

#endif
