/* SPDX-License-Identifier: GPL-3.0-or-later */
/* regs_priv.h - what the files of this folder share */
#ifndef USPL_ARCH_X86_64_REGS_PRIV_H
#define USPL_ARCH_X86_64_REGS_PRIV_H

#include "arch/regs.h"

/*
 * Makes registers that can be loaded by rt_sigreturn: there the kernel no longer looks for a call
 * to restart, so an interrupted system call is made again from its start, a relative time-out
 * included.
 */
void regs_restart_by_hand(struct arch_regs *regs);

#endif
