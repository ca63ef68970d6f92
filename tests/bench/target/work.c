// SPDX-License-Identifier: GPL-3.0-or-later
// work.c - a few instructions: little enough that a jump more can be seen

#include "work.h"

/* All three begin at a cache line, so that none is favoured by where it lies. */
#define LINE __attribute__((noinline, noipa, aligned(64)))

LINE uint64_t work(uint64_t n)
{
	return (n ^ 1) * 3;
}

LINE uint64_t work_unpatched(uint64_t n)
{
	return (n ^ 1) * 3;
}

__asm__(".text\n"
	".balign 64\n"
	".globl work_through_jump\n"
	".type work_through_jump, @function\n"
	"work_through_jump:\n"
	"	jmp work_unpatched\n"
	".size work_through_jump, . - work_through_jump\n");
