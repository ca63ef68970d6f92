// SPDX-License-Identifier: GPL-3.0-or-later
// arch.c - x86-64: the table that the rest of the tools sees

#include <cpuid.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/x86_64/x86_64.h"

#define LEAF_HYPERVISOR 0x40000000 /* the bit of leaf 1 says whether it is there */

/*
 * Whether a processor sees a store to code as a whole when it fetches that code. Processors do, for
 * a store that doesn't cross eight aligned bytes (docs/transition-protocol.md, "Stores to code").
 * QEMU's emulator, in which each processor is a thread, doesn't: it reads an instruction's opcode
 * and its immediate by reads of their own (accel/tcg/translator.c, target/i386/tcg/translate.c),
 * and another processor's store may come in between. It also keeps what it has translated, and a
 * translation that was begun before a store and ended behind it may be of the old bytes. It tells
 * its name by CPUID.
 */
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

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.machine = EM_X86_64,
	.pcrel_type = R_X86_64_PC32,
	.jump_len = X86_64_JUMP_LEN,
	/*
	 * A 32-bit displacement reaches 2 GB; the rest is for addends and the size of what is
	 * placed there.
	 */
	.reach = 0x7f000000,
	.reloc = x86_64_reloc,
	.reloc_write = x86_64_reloc_write,
	.dynamic_reloc = x86_64_dynamic_reloc,
	.insn_decode = x86_64_insn_decode,
	.insn_skim = x86_64_insn_skim,
	.insn_relaxed = x86_64_insn_relaxed,
	.landing_mark = x86_64_landing_mark,
	.tls_relaxed = x86_64_tls_relaxed,
	.tls_relax = x86_64_tls_relax,
	.jump_encode = x86_64_jump_encode,
	.jump_target = x86_64_jump_target,
	.stub_len = X86_64_STUB_LEN,
	.stub_encode = x86_64_stub_encode,
	.return_stub_len = X86_64_RETURN_STUB_LEN,
	.return_stub_encode = x86_64_return_stub_encode,
	.return_stub_slot = x86_64_return_stub_slot,
	.return_place = x86_64_return_place,
	.detour_possible = x86_64_detour_possible,
	.detour_len = X86_64_DETOUR_LEN,
	.distance_len = X86_64_DISTANCE_LEN,
	.detour_encode = x86_64_detour_encode,
	.thunk_call = x86_64_thunk_call,
	.thunk_entry = x86_64_thunk_entry,
	.call_places = x86_64_call_places,
	.call_result = x86_64_call_result,
	.call_register = x86_64_call_register,
	.ticks = x86_64_ticks,
	.thunk_bare = x86_64_thunk_bare,
	.thunk_flag = x86_64_thunk_flag,
	.thunk_stub = x86_64_thunk_stub,
	.listen_code = x86_64_listen_code,
	.trace_runtime = x86_64_trace_runtime,
	.trace_depths = x86_64_trace_depths,
	.constructor_code = x86_64_constructor_code,
	.thunk_frames = x86_64_thunk_frames,
	.has_threads = x86_64_has_threads,
	.keeps_vectors = x86_64_keeps_vectors,
	.minds_return = x86_64_minds_return,
	.ignores_flags = x86_64_ignores_flags,
	.nop_encode = x86_64_nop_encode,
	.nops_merge = x86_64_nops_merge,
	.fetches_whole = x86_64_fetches_whole,
	.fill = x86_64_fill,
};
