// SPDX-License-Identifier: GPL-3.0-or-later
// shadow_stack.c - x86-64: a thread of ours that runs with a shadow stack

#include "arch/shadow_stack.h"

#include <sys/syscall.h>

/* arch/x86/include/uapi/asm/prctl.h; older headers lack them. */
#define ARCH_SHSTK_ENABLE 0x5001
#define ARCH_SHSTK_SHSTK 1ul

_Noreturn void shadow_sleep(volatile int64_t *ret_answer)
{
	/* From the first call on no ret is possible, and none of the C library's calls. */
	__asm__ volatile(
		"mov %[arch_prctl], %%eax\n\t"
		"mov %[enable], %%edi\n\t"
		"mov %[feature], %%esi\n\t"
		"syscall\n\t"
		"mov %%rax, (%[answer])\n"
		"1:\n\t"
		"mov %[pause], %%eax\n\t"
		"syscall\n\t"
		"jmp 1b\n"
		:
		: [arch_prctl] "i"(SYS_arch_prctl), [enable] "i"(ARCH_SHSTK_ENABLE),
		  [feature] "i"(ARCH_SHSTK_SHSTK), [answer] "r"(ret_answer), [pause] "i"(SYS_pause)
		: "rax", "rdi", "rsi", "rcx", "r11", "memory");
	__builtin_unreachable();
}
