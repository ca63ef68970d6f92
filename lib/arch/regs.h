/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regs.h - a stopped thread's registers, without their names
 *
 * Everything that reads or changes a register of the target goes through here, so that the code
 * that stops, unwinds and injects is the same on every processor.
 */
#ifndef USPL_ARCH_REGS_H
#define USPL_ARCH_REGS_H

#include <stddef.h>
#include <sys/user.h>

#include "base/buf.h"
#include "base/error.h"

/* What PTRACE_GETREGS gives and PTRACE_SETREGS takes. */
struct arch_regs {
	struct user_regs_struct user;
};

/*
 * Registers by DWARF number (System V ABI for x86-64, figure 3.36): 0 to 15 general, 16 the return
 * address.
 */
#define DWARF_REGS 17
#define DWARF_FP 6
#define DWARF_SP 7
#define DWARF_PC 16

/* The program counter. */
taddr regs_pc(const struct arch_regs *regs);
/* The stack pointer. */
taddr regs_sp(const struct arch_regs *regs);
/*
 * The address below which the thread keeps nothing on the stack that it is on: the stack pointer,
 * less the red zone.
 */
taddr regs_unused_below(const struct arch_regs *regs);
/* The thread pointer, which is the address of the thread control block. */
taddr regs_tcb(const struct arch_regs *regs);
/* The stack pointer as the only register in perf's sets (asm/perf_regs.h). */
uint64_t regs_perf_sp(void);
/* All that an unwinder needs, as one of perf's sets. */
uint64_t regs_perf_all(void);
/* Those registers of a thread that are known, by DWARF number. */
struct some_regs {
	uint64_t value[DWARF_REGS];
	uint32_t known; /* a bit for each; the values of the others mean nothing */
};

static inline bool some_regs_know(const struct some_regs *regs, int reg)
{
	return regs->known >> reg & 1;
}

/*
 * What a listener has kept of a call's caller: the registers that calls keep (struct
 * uspl_lock_chain), the program counter and the stack pointer behind the call.
 */
void regs_from_kept(const uint64_t kept[6], taddr pc, taddr sp, struct some_regs *ret);
/* What perf tells of a set of registers: a value for each bit of the set, lowest bit first. */
void regs_from_perf(const uint64_t *values, uint64_t set, struct some_regs *ret);

/* All registers of a stopped thread. */
void regs_to_dwarf(const struct arch_regs *regs, struct some_regs *ret);

/* Where a thread is blocked, as /proc/PID/task/TID/syscall tells it. */
struct blocked_place {
	long nr; /* of the system call; -1: it is blocked in none, by a page fault for example */
	uint64_t args[6];
	taddr sp, pc;
};

/* What is known of the registers of a blocked thread. */
void regs_of_blocked(const struct blocked_place *place, struct some_regs *ret);

/*
 * A system call that the stop itself interrupted and that the kernel would end with EINTR even
 * though no signal handler ran (epoll_wait, semop, sigtimedwait, recv with a time-out, ...) is made
 * to start again: its result becomes ERESTARTNOHAND, which the kernel turns into a restart, or into
 * EINTR if a signal handler does run (arch/x86/kernel/signal.c). Returns true if regs were changed.
 */
bool regs_hide_interruption(struct arch_regs *regs);

/*
 * True if a system call that the stop interrupted will be made again when the thread goes on. The
 * kernel does that only for a thread that goes on from the stop itself.
 */
bool regs_will_restart(const struct arch_regs *regs);

/*
 * True for a blocking system call that a stop interrupts and the kernel restarts without the
 * program or its time-outs noticing.
 */
bool syscall_restarts_unseen(long nr);

/* The name of a system call, never freed; NULL for a number that isn't known. */
const char *syscall_name(long nr);
/* The system call that the thread is in, or -1. */
long regs_syscall(const struct arch_regs *regs);
/*
 * True for a blocking system call in which a program waits for time or for others: one that no
 * allocator and no dynamic linker makes. (futex is not one of them: locks wait by it.)
 */
bool syscall_waits_for_events(long nr);
/* True for the call by which locks and conditions wait. */
bool syscall_waits_for_lock(long nr);
/* True for one by which a program sends a signal, to itself perhaps. */
bool syscall_sends_signal(long nr);

/* One request of inject.h as the agent reads it (runtime/agent.S knows this layout). */
struct agent_request {
	uint64_t kind, what, args[6];
	int64_t result;
};

#define AGENT_REQUESTS_MAX 33

/* What the agent is to do, and has done. */
struct agent_result_page {
	/* Once it is done: 1 and the number of requests from the one on that failed. 0 before. */
	uint64_t done;
	struct agent_request reqs[AGENT_REQUESTS_MAX];
};

/* A run of the agent. */
struct agent_run {
	taddr agent; /* its code */
	const struct agent_result_page *result_page;
	size_t n;  /* requests */
	taddr top; /* the frame lies below it; 0: where the thread's stack is unused */
	/*
	 * Where the result page lies, if it is to be read after the thread has gone on: then the
	 * stack has other things there, or nothing any more. 0: in the frame.
	 */
	taddr result_page_addr;
	bool moves; /* the end isn't noted in the frame: one of the requests says where */
};

/*
 * What a thread with a shadow stack gets back last, by the agent's own way back; it lies behind its
 * code (runtime/agent.S knows this layout).
 */
struct agent_back {
	uint64_t ax, cx, dx, si, di, r10, r11, ip;
};

/* Everything that is put on a thread's stack for the agent, and the registers to start it with. */
struct agent_frame {
	struct buf bytes;
	struct agent_back back;
	taddr addr;        /* where bytes belong */
	taddr result_page; /* where the result page is: among them, or where it was to be */
	struct arch_regs regs;
};

/* How much of a result page n requests take. */
static inline size_t agent_result_page_len(size_t n)
{
	return offsetof(struct agent_result_page, reqs) + n * sizeof(struct agent_request);
}

/* Asks the processor what agent_frame_build needs to know: that takes time, once. */
void agent_frame_prepare(void);
/*
 * Builds the frame, to lie where the run says: the result page, if it has no other place, and a
 * signal frame that holds the registers, the extended state and the signal mask, so that the agent
 * ends by giving them all back (rt_sigreturn). A system call that was interrupted is made again
 * from its start. xstate is the thread's NT_X86_XSTATE, or, of a processor without XSAVE, its
 * NT_PRFPREG.
 */
int agent_frame_build(const struct arch_regs *regs, const struct buf *xstate, uint64_t sigmask,
		      const struct agent_run *run, struct agent_frame *ret,
		      struct uspl_err *err) uspl_must_check;
/* How many bytes the frame takes at most, wherever it lies. */
uint64_t agent_frame_max(const struct buf *xstate, const struct agent_run *run);
/* Frees the frame's bytes; nothing in the target. */
void agent_frame_release(struct agent_frame *frame);

#endif
