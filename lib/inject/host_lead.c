// SPDX-License-Identifier: GPL-3.0-or-later
// host_lead.c - a thread is led through the agent, from one system call's stop to the next
/*
 * This way every system call of the agent is two stops, and giving the thread its own state back is
 * one more. It works for any thread, and a system call that it was in is restarted by the kernel as
 * if nothing had been.
 */

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "inject/agent.h"
#include "inject/host.h"

/* What has been seen of the agent's way. */
struct lead {
	struct host *host;
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
 * The scheduler likes to wake a thread where the one runs that wakes it, and seldom moves it while
 * that is asleep.
 */
static bool is_beside(const struct host *host)
{
	return task_processor(host->agent->proc, host->thread.tid) == sched_getcpu();
}

/*
 * Lets the thread run to its next stop, if it doesn't already, and returns the wait status; -code
 * when it died, or its stop wasn't seen: it runs still, for all that is known.
 */
static int step(struct host *host, int request, int signal, int64_t deadline, struct uspl_err *err)
{
	const struct proc *proc = host->agent->proc;
	int64_t spin_until;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	if (!host->runs && !trace_twice(request, host->thread.tid, (void *)(long)signal))
		return uspl_fail_errno(err, "cannot resume thread %d", host->thread.tid);
	host->runs = true;
	spin_until = clock_now_ns() + (host->beside ? 0 : THREAD_SPIN_NS);
	for (;;) {
		int status;
		pid_t got = wait_twice(host->thread.tid, &status);
		int64_t now = clock_now_ns(), left = deadline - now;
		struct timespec timeout = { left / 1000000000, left % 1000000000 };

		if (got > 0 && WIFSTOPPED(status)) {
			host->runs = false;
			return status >> 8;
		}
		if (got > 0 || (got < 0 && errno == ECHILD)) {
			host->thread.state = THREAD_GONE;
			return uspl_fail(err, USPL_E_NO_PROCESS, "thread %d of pid %d exited",
					 host->thread.tid, proc->pid);
		}
		if (got < 0 && errno != EINTR)
			return uspl_fail_errno(err, "cannot wait for thread %d", host->thread.tid);
		if (left <= 0)
			return uspl_fail(err, USPL_E_UNSTOPPABLE,
					 "thread %d of pid %d did not finish a system call in time",
					 host->thread.tid, proc->pid);
		if (got || now < spin_until)
			continue;
		host->beside = host->beside || is_beside(host);
		sigtimedwait(&child, NULL, &timeout);
	}
}

/* The kernel returns -errno in the range -4095 to -1 (System V ABI for x86-64, A.2.1). */
static bool failed(int64_t result)
{
	return result < 0 && result >= -4095;
}

/*
 * Runs the agent until it begins its last system call, which has no result that matters, or until
 * the end of one that failed. A function that it calls may make some of its own, which don't count.
 */
static int run_agent(struct lead *lead, struct uspl_err *err)
{
	const struct inject_agent *agent = lead->host->agent;
	const struct thread *thread = &lead->host->thread;
	int64_t deadline = clock_now_ns() + HOST_RUN_NS;
	size_t stops = 0;
	int signal = 0;

	while (stops < 2 * lead->n_syscalls - 1) {
		struct user_regs_struct regs;
		int status = step(lead->host, PTRACE_SYSCALL, signal, deadline, err);

		if (status < 0)
			return status;
		signal = 0;
		if (status == SIGSYS && !lead->made)
			return host_fail_dispatched(lead->host, err);
		if (status == SIGSTOP)
			signal = SIGSTOP; /* the process is being stopped as a whole */
		else if (status != (SIGTRAP | 0x80) && status >> 8 != PTRACE_EVENT_STOP)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "thread %d of pid %d got signal %d in a call made for us",
					 thread->tid, agent->proc->pid, status & 0x7f);
		if (status != (SIGTRAP | 0x80))
			continue;
		if (!trace_twice(PTRACE_GETREGS, thread->tid, &regs))
			return uspl_fail_errno(err, "cannot read the registers of thread %d",
					       thread->tid);
		if (regs.rip < agent->addr || regs.rip > agent->addr + agent->len || ++stops % 2)
			continue;
		lead->made = stops / 2;
		lead->last = (int64_t)regs.rax;
		if (failed(lead->last))
			break;
	}
	return 0;
}

/*
 * Brings the thread to a stop in which the kernel still looks for a system call to restart: that is
 * one that PTRACE_INTERRUPT makes, not the end of a system call.
 */
static int bring_back(struct host *host, struct uspl_err *err)
{
	int status;

	do {
		/* Every other stop that comes first takes the place of the one asked for. */
		if (ptrace(PTRACE_INTERRUPT, host->thread.tid, NULL, NULL) != 0)
			return uspl_fail_errno(err, "cannot stop thread %d", host->thread.tid);
		status = step(host, PTRACE_CONT, 0, clock_now_ns() + HOST_RUN_NS, err);
		if (status < 0)
			return status;
		if (status >> 8 != PTRACE_EVENT_STOP && status != (SIGTRAP | 0x80))
			host->thread.signal = status & 0x7f;
	} while (status >> 8 != PTRACE_EVENT_STOP);
	return host_restore(host, err);
}

static int collect(const struct lead *lead, size_t *ret_done, struct uspl_err *err)
{
	const struct host *host = lead->host;
	struct agent_slate slate;
	int rc = proc_read(host->agent->proc, host->frame.slate, &slate, agent_slate_len(host->n),
			   err);
	size_t syscalls = 0;

	for (size_t i = 0; !rc && i < host->n; i++) {
		struct inject_req *req = &host->reqs[i];
		bool last = req->kind == INJECT_SYSCALL && ++syscalls == lead->made;

		req->result = last ? lead->last : slate.reqs[i].result;
		*ret_done = i + 1;
		if (last && failed(lead->last))
			break;
	}
	return rc;
}

int host_lead(struct host *host, size_t *ret_done, struct uspl_err *err)
{
	struct lead lead = { .host = host, .n_syscalls = 1 };
	int rc, restored;

	for (size_t i = 0; i < host->n; i++)
		lead.n_syscalls += host->reqs[i].kind == INJECT_SYSCALL;
	rc = host_start(host, err);
	if (!rc)
		rc = run_agent(&lead, err);
	if (!rc)
		rc = collect(&lead, ret_done, err);
	restored = host->thread.state == THREAD_GONE ? 0 : bring_back(host, rc ? NULL : err);
	host->agent->kept |= restored != 0;
	return rc ? rc : restored;
}
