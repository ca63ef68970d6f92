/* SPDX-License-Identifier: GPL-3.0-or-later */
/* near_code.h - code of a test's own, written as text, and memory within reach of a test's code */
#ifndef USPL_TESTS_NEAR_CODE_H
#define USPL_TESTS_NEAR_CODE_H

#include <sys/mman.h>

#include "base/error.h"

/* A function without a prologue, that returns at the end of the text. */
#define CODE(name, text)                                                                           \
	extern const uint8_t name[];                                                               \
	__asm__(".pushsection .text\n.balign 16\n.globl " #name "\n" #name ":\n" text              \
		"\nret\n.balign 16\n.popsection")

static inline taddr address(const void *place)
{
	return (uintptr_t)place;
}

/*
 * Maps memory that can be written to and executed, where a region would lie; NULL if none is free.
 */
static inline void *map_near(const void *code, size_t len)
{
	for (int i = 1; i <= 31; i++) {
		taddr at = (address(code) & -PAGE) - ((taddr)i << 26);
		void *map = mmap((void *)at, len, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (map != MAP_FAILED)
			return map;
	}
	return NULL;
}

#endif
