// SPDX-License-Identifier: GPL-3.0-or-later
// carrier_traced.c - a traced run of the agent, from one system call's stop to the next
/*
 * This way every system call of the agent is two stops, and giving the thread its own state back is
 * one more. It works for any thread, and the kernel restarts a system call that it was in as if
 * nothing had happened.
 */

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/cancel.h"
#include "inject/agent.h"
#include "inject/carrier.h"

/* How often a thread is looked at that has had its time, and waits for a processor. */
#define LOOK_NS 5000000

/* What has been seen of the agent's way. */
struct traced_run {
	struct carrier *carrier;
	size_t n_syscalls; /* how many of the requests are system calls, and the one behind them */
	size_t made;       /* how many the agent has made */
	int64_t last; /* the result of the last of them, which the agent may not have noted yet */
};

/*
 * A request that fails is made once more: a run that is cut short may have mapped memory that it
 * hasn't marked yet. A thread that is gone fails twice.
 */
static bool trace_twice(int request, pid_t tid, void *data)
{
	return ptrace(request, tid, NULL, data) == 0 || ptrace(request, tid, NULL, data) == 0;
}

static pid_t wait_twice(pid_t tid, int *status)
{
	pid_t got = waitpid(tid, status, __WALL | WNOHANG);

	return got < 0 ? waitpid(tid, status, __WALL | WNOHANG) : got;
}

/*
 * A thread that is watched gets the time that it has waited for a processor on top, up to the limit
 * of all runs; another one what is left of the command's --wait, if it only wants a processor.
 */
static bool may_run_on(const struct carrier *carrier, int64_t now)
{
	const struct proc *proc = carrier->agent->proc;
	int64_t ran = task_run_ns(proc, carrier->thread.tid);

	/* No other thread stands still for it. */
	if (!carrier->watch && !carrier->held && now < proc_deadline(proc, 0))
		return task_state(proc, carrier->thread.tid) == 'R' && !cancel_pending();
	/* It waits for nothing, or for the tool. */
	return carrier->watch && carrier->ran_ns >= 0 && now - carrier->began_ns < CARRIER_RUN_NS &&
	       task_state(proc, carrier->thread.tid) != 'S' &&
	       ran - carrier->ran_ns < carrier->watch->limit_ns;
}

/*
 * Lets the thread run to its next stop, if it doesn't already, and returns the wait status; -code
 * when it died, or its stop wasn't seen: then it may still run.
 */
static int step(struct carrier *carrier, int request, int signal, int64_t deadline,
		struct uspl_err *err)
{
	const struct proc *proc = carrier->agent->proc;
	int64_t spin_until;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	if (!carrier->runs && !trace_twice(request, carrier->thread.tid, (void *)(long)signal))
		return uspl_fail_errno(err, "cannot resume thread %d", carrier->thread.tid);
	carrier->runs = true;
	spin_until = clock_now_ns() + (carrier->beside ? 0 : THREAD_SPIN_NS);
	for (;;) {
		int status;
		pid_t got = wait_twice(carrier->thread.tid, &status);
		int64_t now = clock_now_ns(), left = deadline - now;
		struct timespec timeout = { left / 1000000000, left % 1000000000 };

		if (got > 0 && WIFSTOPPED(status)) {
			carrier->runs = false;
			return status >> 8;
		}
		if (got > 0 || (got < 0 && errno == ECHILD)) {
			carrier->thread.state = THREAD_GONE;
			return uspl_fail(err, USPL_E_NO_PROCESS, "thread %d of pid %d exited",
					 carrier->thread.tid, proc->pid);
		}
		if (got < 0 && errno != EINTR)
			return uspl_fail_errno(err, "cannot wait for thread %d",
					       carrier->thread.tid);
		if (left <= 0 && may_run_on(carrier, now)) {
			deadline = now + LOOK_NS;
			continue;
		}
		if (left <= 0)
			return uspl_fail(err, USPL_E_UNSTOPPABLE,
					 "thread %d of pid %d did not finish a system call in time",
					 carrier->thread.tid, proc->pid);
		if (got || now < spin_until)
			continue;
		/*
		 * The scheduler likes to wake a thread on the processor of the one that wakes it,
		 * and seldom moves it while that one sleeps.
		 */
		if (!carrier->beside)
			carrier->beside =
				task_processor(proc, carrier->thread.tid) == sched_getcpu();
		sigtimedwait(&child, NULL, &timeout);
	}
}

/* The kernel returns -errno in the range -4095 to -1 (System V ABI for x86-64, A.2.1). */
static bool failed(int64_t result)
{
	return result < 0 && result >= -4095;
}

/*
 * A signal came that isn't the kernel's word on what the thread did itself, but another process's.
 * It is delivered when the thread is back.
 */
static bool comes_from_outside(const struct carrier *carrier, int signal)
{
	siginfo_t info;

	return carrier_is_fault(signal) &&
	       ptrace(PTRACE_GETSIGINFO, carrier->thread.tid, NULL, &info) == 0 &&
	       info.si_code <= 0;
}

/* Notes for the caller how a function that was called has failed. */
static void note_failure(const struct carrier *carrier, bool late, int signal)
{
	if (!carrier->watch)
		return;
	carrier->watch->late = late;
	carrier->watch->signal = signal;
}

/*
 * Runs the agent until it begins its last system call, whose result doesn't matter, or until the
 * end of one that failed. A function that it calls may make some of its own, which don't count.
 */
static int run_agent(struct traced_run *traced_run, struct uspl_err *err)
{
	const struct inject_agent *agent = traced_run->carrier->agent;
	const struct thread *thread = &traced_run->carrier->thread;
	const struct inject_watch *watch = traced_run->carrier->watch;
	int64_t deadline = clock_now_ns() + (watch ? watch->limit_ns : CARRIER_RUN_NS);
	size_t stops = 0;
	int signal = 0;

	traced_run->carrier->began_ns = clock_now_ns();
	traced_run->carrier->ran_ns = watch ? task_run_ns(agent->proc, thread->tid) : -1;

	while (stops < 2 * traced_run->n_syscalls - 1) {
		struct user_regs_struct regs;
		int status = step(traced_run->carrier, PTRACE_SYSCALL, signal, deadline, err);

		if (status == -USPL_E_UNSTOPPABLE)
			note_failure(traced_run->carrier, true, 0);
		if (status < 0)
			return status;
		signal = 0;
		if (status == SIGSYS && !traced_run->made)
			return carrier_fail_dispatched(traced_run->carrier, err);
		if (status == SIGSTOP)
			signal = SIGSTOP; /* the process is being stopped as a whole */
		else if (comes_from_outside(traced_run->carrier, status))
			traced_run->carrier->thread.signal = status;
		else if (status != (SIGTRAP | 0x80) && status >> 8 != PTRACE_EVENT_STOP) {
			note_failure(traced_run->carrier, false, status & 0x7f);
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "thread %d of pid %d got signal %d in a call made for us",
					 thread->tid, agent->proc->pid, status & 0x7f);
		}
		if (status != (SIGTRAP | 0x80))
			continue;
		if (!trace_twice(PTRACE_GETREGS, thread->tid, &regs))
			return uspl_fail_errno(err, "cannot read the registers of thread %d",
					       thread->tid);
		if (regs.rip < agent->addr || regs.rip > agent->addr + agent->len || ++stops % 2)
			continue;
		traced_run->made = stops / 2;
		traced_run->last = (int64_t)regs.rax;
		if (failed(traced_run->last))
			break;
	}
	return 0;
}

/*
 * Brings the thread to a stop in which the kernel still looks for a system call to restart: a stop
 * by PTRACE_INTERRUPT, not one at the end of a system call.
 */
static int bring_back(struct carrier *carrier, struct uspl_err *err)
{
	int status;

	do {
		/* Every other stop that comes first takes the place of the one asked for. */
		if (ptrace(PTRACE_INTERRUPT, carrier->thread.tid, NULL, NULL) != 0)
			return uspl_fail_errno(err, "cannot stop thread %d", carrier->thread.tid);
		status = step(carrier, PTRACE_CONT, 0, clock_now_ns() + CARRIER_RUN_NS, err);
		if (status < 0)
			return status;
		if (status >> 8 != PTRACE_EVENT_STOP && status != (SIGTRAP | 0x80))
			carrier->thread.signal = status & 0x7f;
	} while (status >> 8 != PTRACE_EVENT_STOP);
	return carrier_restore(carrier, err);
}

static int collect(const struct traced_run *traced_run, size_t *ret_done, struct uspl_err *err)
{
	const struct carrier *carrier = traced_run->carrier;
	struct agent_result_page result_page;
	int rc = proc_read(carrier->agent->proc, carrier->frame.result_page, &result_page,
			   agent_result_page_len(carrier->n), err);
	size_t syscalls = 0;

	if (rc)
		return rc;
	for (size_t i = 0; i < carrier->n; i++) {
		struct inject_req *req = &carrier->reqs[i];
		bool last = req->kind == INJECT_SYSCALL && ++syscalls == traced_run->made;

		req->result = last ? traced_run->last : result_page.reqs[i].result;
		*ret_done = i + 1;
		if (last && failed(traced_run->last))
			break;
	}
	return 0;
}

int carrier_run_traced(struct carrier *carrier, size_t *ret_done, struct uspl_err *err)
{
	struct traced_run traced_run = { .carrier = carrier, .n_syscalls = 1 };
	int rc, restored;

	for (size_t i = 0; i < carrier->n; i++)
		traced_run.n_syscalls += carrier->reqs[i].kind == INJECT_SYSCALL;
	rc = carrier_start(carrier, err);
	if (!rc)
		rc = run_agent(&traced_run, err);
	if (!rc)
		rc = collect(&traced_run, ret_done, err);
	restored = carrier->thread.state == THREAD_GONE ? 0 : bring_back(carrier, rc ? NULL : err);
	carrier->agent->kept |= restored != 0;
	if (rc)
		return rc;
	return restored;
}
