// SPDX-License-Identifier: GPL-3.0-or-later
// regs.c - a stopped thread's registers on x86-64

#include "arch/x86_64/x86_64.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

/*
 * Kernel-internal results of interrupted system calls (include/linux/errno.h); a tracer sees them
 * in rax.
 */
enum {
	KERNEL_ERESTARTSYS = 512,
	KERNEL_ERESTARTNOINTR = 513,
	KERNEL_ERESTARTNOHAND = 514,
	KERNEL_ERESTART_RESTARTBLOCK = 516,
};

taddr regs_pc(const struct arch_regs *regs)
{
	return regs->user.rip;
}

taddr regs_sp(const struct arch_regs *regs)
{
	return regs->user.rsp;
}

taddr regs_unused_below(const struct arch_regs *regs)
{
	enum { RED_ZONE = 128 }; /* System V ABI for x86-64, 3.2.2 */

	return regs->user.rsp - RED_ZONE;
}

taddr regs_tcb(const struct arch_regs *regs)
{
	return regs->user.fs_base;
}

uint64_t regs_perf_sp(void)
{
	return 1ull << PERF_REG_X86_SP;
}

/* perf's numbers of the registers, by their DWARF numbers. */
static const uint8_t perf_numbers[DWARF_REGS] = {
	PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,  PERF_REG_X86_SI,
	PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,
	PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
	PERF_REG_X86_R15, PERF_REG_X86_IP,
};

uint64_t regs_perf_all(void)
{
	uint64_t set = 0;

	for (size_t i = 0; i < DWARF_REGS; i++)
		set |= 1ull << perf_numbers[i];
	return set;
}

void regs_from_perf(const uint64_t *values, uint64_t set, struct some_regs *ret)
{
	*ret = (struct some_regs){ 0 };
	for (size_t i = 0; i < DWARF_REGS; i++) {
		uint64_t bit = 1ull << perf_numbers[i];

		if (!(set & bit))
			continue;
		/* As many values stand before it as the set has lower bits. */
		memcpy(&ret->value[i], values + __builtin_popcountll(set & (bit - 1)),
		       sizeof(ret->value[i]));
		ret->known |= 1u << i;
	}
}

void regs_from_kept(const uint64_t kept[6], taddr pc, taddr sp, struct some_regs *ret)
{
	/* rbx, rbp, r12 to r15 */
	static const uint8_t numbers[] = { 3, DWARF_FP, 12, 13, 14, 15 };

	*ret = (struct some_regs){ .known = 1u << DWARF_SP | 1u << DWARF_PC };
	ret->value[DWARF_SP] = sp;
	ret->value[DWARF_PC] = pc;
	for (size_t i = 0; i < sizeof(numbers); i++) {
		ret->value[numbers[i]] = kept[i];
		ret->known |= 1u << numbers[i];
	}
}

void regs_to_dwarf(const struct arch_regs *regs, struct some_regs *ret)
{
	const struct user_regs_struct *u = &regs->user;

	*ret = (struct some_regs){
		.value = { u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp, u->rsp, u->r8,
			   u->r9, u->r10, u->r11, u->r12, u->r13, u->r14, u->r15, u->rip },
		.known = (1u << DWARF_REGS) - 1,
	};
}

void regs_of_blocked(const struct blocked_place *place, struct some_regs *ret)
{
	/* rdi, rsi, rdx, r10, r8, r9: the arguments of a system call, by their DWARF numbers. */
	static const uint8_t args[ARRAY_SIZE(place->args)] = { 5, 4, 1, 10, 8, 9 };

	*ret = (struct some_regs){ .known = 1u << DWARF_SP | 1u << DWARF_PC };
	ret->value[DWARF_SP] = place->sp;
	ret->value[DWARF_PC] = place->pc;
	for (size_t i = 0; place->nr >= 0 && i < ARRAY_SIZE(args); i++) {
		ret->value[args[i]] = place->args[i];
		ret->known |= 1u << args[i];
	}
}

/* The calls that answer EINTR when a stop interrupts them (tried one by one on Linux 6.18). */
static bool answers_eintr(uint64_t nr)
{
	switch (nr) {
	case SYS_read:
	case SYS_readv:
	case SYS_write:
	case SYS_writev:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_rt_sigtimedwait:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
	case SYS_io_uring_enter:
		return true;
	default:
		return false;
	}
}

bool syscall_restarts_unseen(long nr)
{
	switch (nr) {
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_futex:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_pause:
	case SYS_rt_sigsuspend:
	case SYS_msgrcv:
	case SYS_flock:
		return true;
	default:
		return false;
	}
}

long regs_syscall(const struct arch_regs *regs)
{
	return (int64_t)regs->user.orig_rax < 0 ? -1 : (long)regs->user.orig_rax;
}

bool syscall_waits_for_events(long nr)
{
	switch (nr) {
	case SYS_write:
	case SYS_writev:
	case SYS_flock:
	case SYS_futex:
		return false;
	default:
		return nr >= 0 && (answers_eintr((uint64_t)nr) || syscall_restarts_unseen(nr));
	}
}

bool syscall_waits_for_lock(long nr)
{
	return nr == SYS_futex;
}

bool syscall_sends_signal(long nr)
{
	return nr == SYS_kill || nr == SYS_tkill || nr == SYS_tgkill;
}

bool regs_hide_interruption(struct arch_regs *regs)
{
	struct user_regs_struct *u = &regs->user;

	if ((int64_t)u->orig_rax < 0 || (int64_t)u->rax != -EINTR || !answers_eintr(u->orig_rax))
		return false;
	u->rax = (uint64_t)-KERNEL_ERESTARTNOHAND;
	return true;
}

bool regs_will_restart(const struct arch_regs *regs)
{
	struct arch_regs seen = *regs;

	regs_hide_interruption(&seen);
	if ((int64_t)seen.user.orig_rax < 0)
		return false;
	switch (-(int64_t)seen.user.rax) {
	case KERNEL_ERESTARTSYS:
	case KERNEL_ERESTARTNOINTR:
	case KERNEL_ERESTARTNOHAND:
	case KERNEL_ERESTART_RESTARTBLOCK:
		return true;
	default:
		return false;
	}
}

void regs_restart_by_hand(struct arch_regs *regs)
{
	struct user_regs_struct *u = &regs->user;

	if (!regs_will_restart(regs))
		return;
	u->rax = u->orig_rax;
	u->rip -= 2; /* the syscall instruction */
	u->orig_rax = (uint64_t)-1;
}
