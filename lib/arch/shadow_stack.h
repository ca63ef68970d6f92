/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shadow_stack.h - a thread of ours that has a shadow stack, to try what the machine allows */
#ifndef USPL_ARCH_SHADOW_STACK_H
#define USPL_ARCH_SHADOW_STACK_H

#include <stdint.h>

/*
 * Switches a shadow stack on for the calling thread (arch_prctl, ARCH_SHSTK_ENABLE: Linux 6.6,
 * CONFIG_X86_USER_SHADOW_STACK; Documentation/arch/x86/shstk.rst), leaves what the kernel answers
 * in *ret_answer, 0 or a negative errno, and sleeps for ever. The caller must be ready to be
 * killed in its sleep. It never returns: the new shadow stack is empty, and no return address is on
 * it.
 */
_Noreturn void shadow_sleep(volatile int64_t *ret_answer);

#endif
