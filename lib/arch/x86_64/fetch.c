// SPDX-License-Identifier: GPL-3.0-or-later
// fetch.c - whether a processor sees a store to code as a whole when it fetches that code
/*
 * Processors do, for a store that doesn't cross eight aligned bytes (docs/transition.md, "Stores to
 * code"). QEMU's emulator, in which each processor is a thread, doesn't: it reads an instruction's
 * opcode and its immediate by reads of their own (accel/tcg/translator.c,
 * target/i386/tcg/translate.c), and another processor's store may come in between. It also keeps
 * what it has translated, and a translation that was begun before a store and ended behind it may
 * be of the old bytes. It tells its name by CPUID.
 */

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

#include "arch/x86_64/x86_64.h"

#define LEAF_HYPERVISOR 0x40000000 /* the bit of leaf 1 says whether it is there */

bool x86_64_fetches_whole(void)
{
	const char *told = getenv("USPL_FETCH");
	uint32_t eax, name[3], ebx, ecx, edx;

	if (told && (!strcmp(told, "pieces") || !strcmp(told, "whole")))
		return told[0] == 'w';
	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx >> 31))
		return true;
	__cpuid(LEAF_HYPERVISOR, eax, name[0], name[1], name[2]);
	return memcmp(name, "TCGTCGTCGTCG", sizeof(name)) != 0;
}
