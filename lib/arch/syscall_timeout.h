/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * syscall_timeout.h - system calls with a time-out that counts from their beginning, and the
 * registers that hold it
 */
#ifndef USPL_ARCH_SYSCALL_TIMEOUT_H
#define USPL_ARCH_SYSCALL_TIMEOUT_H

#include "arch/regs.h"

enum timeout_form {
	TIMEOUT_MS,       /* the argument is an int, milliseconds; negative: without end */
	TIMEOUT_TIMESPEC, /* it points to a struct timespec; NULL: without end */
};

/* Which argument of a system call is its time-out. */
struct syscall_timeout {
	uint8_t arg;
	enum timeout_form form;
};

/*
 * True for the calls that a stop interrupts, that the kernel doesn't restart with the time that
 * remains, and whose time-out is an argument (epoll_wait and its like, semtimedop, sigtimedwait,
 * io_getevents).
 */
bool syscall_timeout(long nr, struct syscall_timeout *ret);

/* Reads code of the target; returns how many bytes there are. */
typedef size_t code_reader(void *ctx, taddr addr, void *buf, size_t len);

/*
 * True if the code that a system call returns to, at pc, provably doesn't use the value that the
 * argument's register has there: on every way it is written or the function returns before it is
 * read.
 */
bool syscall_arg_is_dead(uint8_t arg, taddr pc, code_reader *read, void *ctx);

/* True if the thread is in the call that `place` tells of, and the stop has interrupted it. */
bool regs_are_interrupted_at(const struct arch_regs *regs, const struct blocked_place *place);
/* Gives an argument of the call that the thread is in another value. */
void regs_set_syscall_arg(struct arch_regs *regs, uint8_t arg, uint64_t value);

#endif
