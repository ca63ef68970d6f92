// SPDX-License-Identifier: GPL-3.0-or-later
// inject.c - system calls and function calls made by the target on our behalf
/*
 * Order matters, since the tool may die between any two steps: first the frame and the code, then
 * the registers (from now on the thread restores itself), then the signal mask (which the frame
 * restores too).
 */

#include "proc/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/log.h"
#include "proc/timeout.h"

#define XSTATE_MAX 16384
/* What must be left of the stack: for the agent itself, and if it calls a function. */
#define AGENT_ROOM 4096
#define CALL_ROOM 32768
#define STOP_NS 1000000000ll
#define RUN_NS 10000000000ll

/* A thread was not fit to run the agent; another one may be. Not an enum uspl_code. */
#define UNFIT 1

/* What is kept of the thread while the agent runs in it. */
struct host {
	struct thread thread;
	struct buf xstate;
	uint64_t sigmask;
	struct agent_frame frame;
	struct buf stack; /* what was where the frame goes */
	uint64_t room;    /* what must be free below it */
	size_t syscalls;  /* how many the agent has made */
	int64_t last; /* the result of the last of them, which the agent may not have noted yet */
};

static int read_state(struct host *host, struct uspl_err *err)
{
	struct iovec iov = { .iov_len = XSTATE_MAX };

	buf_addzero(&host->xstate, XSTATE_MAX);
	if (host->xstate.oom)
		return uspl_fail_nomem(err);
	iov.iov_base = host->xstate.data;
	if (ptrace(PTRACE_GETREGSET, host->thread.tid, (void *)NT_X86_XSTATE, &iov) != 0 ||
	    ptrace(PTRACE_GETSIGMASK, host->thread.tid, sizeof(host->sigmask), &host->sigmask) != 0)
		return uspl_fail_errno(err, "cannot read the state of thread %d", host->thread.tid);
	host->xstate.len = iov.iov_len;
	return 0;
}

/* The frame must fit between the stack pointer and the stack's lower end, with room for calls. */
static bool stack_has_room(const struct proc *proc, const struct host *host)
{
	const struct mapping *map = proc_mapping_at(proc, regs_sp(&host->thread.regs));

	return map && map->write && host->frame.addr >= map->start + host->room;
}

static int write_frame(const struct proc *proc, struct host *host, struct uspl_err *err)
{
	int rc;

	if (!stack_has_room(proc, host))
		return UNFIT;
	buf_addzero(&host->stack, host->frame.bytes.len);
	if (host->stack.oom)
		return uspl_fail_nomem(err);
	rc = proc_read(proc, host->frame.addr, host->stack.data, host->stack.len, err);
	if (!rc)
		rc = proc_write(proc, host->frame.addr, host->frame.bytes.data,
				host->frame.bytes.len, err);
	return rc;
}

/*
 * A filter might kill the target for a system call made for us; it is suspended while we trace
 * (Linux 4.3, needs CAP_SYS_ADMIN).
 */
static int set_options(const struct proc *proc, pid_t tid, struct uspl_err *err)
{
	long options = PTRACE_O_TRACESYSGOOD | (proc->seccomp ? PTRACE_O_SUSPEND_SECCOMP : 0);

	if (ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)options) == 0)
		return 0;
	if (!proc->seccomp)
		return uspl_fail_errno(err, "cannot trace the system calls of thread %d", tid);
	uspl_fail(err, USPL_E_SECCOMP,
		  "pid %d runs under seccomp, which may kill it for a system call made for us",
		  proc->pid);
	uspl_hint(err, "run as root: then the filter is suspended for the moment");
	return -USPL_E_SECCOMP;
}

/* From the first of these calls on the thread would restore itself. */
static int start_agent(const struct host *host, struct uspl_err *err)
{
	static const uint64_t all = ~0ull;
	pid_t tid = host->thread.tid;

	if (ptrace(PTRACE_SETREGS, tid, NULL, &host->frame.regs.user) != 0 ||
	    ptrace(PTRACE_SETSIGMASK, tid, sizeof(all), &all) != 0)
		return uspl_fail_errno(err, "cannot set the registers of thread %d", tid);
	return 0;
}

/*
 * Lets the thread run to its next stop and returns the wait status; -code when it died or took too
 * long.
 */
static int step(const struct proc *proc, struct host *host, int request, int signal,
		int64_t deadline, struct uspl_err *err)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	if (ptrace(request, host->thread.tid, NULL, (void *)(long)signal) != 0)
		return uspl_fail_errno(err, "cannot resume thread %d", host->thread.tid);
	for (;;) {
		int status;
		pid_t got = waitpid(host->thread.tid, &status, __WALL | WNOHANG);
		int64_t left = deadline - clock_now_ns();
		struct timespec timeout = { left / 1000000000, left % 1000000000 };

		if (got > 0 && WIFSTOPPED(status))
			return status >> 8;
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
		if (got == 0)
			sigtimedwait(&child, NULL, &timeout);
	}
}

/* The kernel returns -errno in the range -4095 to -1 (System V ABI for x86-64, A.2.1). */
static bool failed(int64_t result)
{
	return result < 0 && result >= -4095;
}

/*
 * Runs the agent until it begins its n-th system call, which has no result that matters, or until the
 * end of one that failed. A function that it calls may make some of its own, which don't count.
 */
static int run_agent(const struct proc *proc, struct host *host, const struct inject_agent *agent,
		     size_t n, struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + RUN_NS;
	size_t stops = 0;
	int signal = 0;

	while (stops < 2 * n - 1) {
		struct user_regs_struct regs;
		int status = step(proc, host, PTRACE_SYSCALL, signal, deadline, err);

		if (status < 0)
			return status;
		signal = 0;
		if (status == SIGSTOP)
			signal = SIGSTOP; /* the process is being stopped as a whole */
		else if (status != (SIGTRAP | 0x80) && status >> 8 != PTRACE_EVENT_STOP)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "thread %d of pid %d got signal %d in a call made for us",
					 host->thread.tid, proc->pid, status & 0x7f);
		if (status != (SIGTRAP | 0x80))
			continue;
		if (ptrace(PTRACE_GETREGS, host->thread.tid, NULL, &regs) != 0)
			return uspl_fail_errno(err, "cannot read the registers of thread %d",
					       host->thread.tid);
		if (regs.rip < agent->addr || regs.rip > agent->addr + agent->len || ++stops % 2)
			continue;
		host->syscalls = stops / 2;
		host->last = (int64_t)regs.rax;
		if (failed(host->last))
			break;
	}
	return 0;
}

/*
 * Gives the thread its own state back. It must be in a stop in which the kernel still looks for a
 * system call to restart: that is one that PTRACE_INTERRUPT makes, not the end of a system call.
 */
static int restore(const struct proc *proc, struct host *host, struct uspl_err *err)
{
	struct iovec iov = { host->xstate.data, host->xstate.len };
	struct thread *thread = &host->thread;
	pid_t tid = thread->tid;
	int status;

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
		return uspl_fail_errno(err, "cannot stop thread %d", tid);
	do {
		status = step(proc, host, PTRACE_CONT, 0, clock_now_ns() + RUN_NS, err);
		if (status < 0)
			return status;
		if (status >> 8 != PTRACE_EVENT_STOP)
			thread->signal = status & 0x7f;
	} while (status >> 8 != PTRACE_EVENT_STOP);
	/*
	 * The registers come last: until then the thread, left alone, would go back by the frame. The
	 * frame must be there as long; where it lies nothing of the thread's own is live.
	 */
	if (ptrace(PTRACE_SETREGSET, tid, (void *)NT_X86_XSTATE, &iov) != 0 ||
	    ptrace(PTRACE_SETSIGMASK, tid, sizeof(host->sigmask), &host->sigmask) != 0 ||
	    ptrace(PTRACE_SETREGS, tid, NULL, &thread->regs.user) != 0)
		return uspl_fail_errno(err, "cannot restore thread %d", tid);
	if (proc_write(proc, host->frame.addr, host->stack.data, host->stack.len, NULL) != 0)
		log_info("inject", "the stack of thread %d keeps the agent's frame", tid);
	return 0;
}

static int collect(const struct proc *proc, const struct host *host, struct inject_req *reqs,
		   size_t n, size_t *ret_done, struct uspl_err *err)
{
	struct agent_request raw[INJECT_MAX + 1];
	int rc = proc_read(proc, host->frame.requests, raw, n * sizeof(raw[0]), err);
	size_t syscalls = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		bool last = reqs[i].kind == INJECT_SYSCALL && ++syscalls == host->syscalls;

		reqs[i].result = last ? host->last : raw[i].result;
		*ret_done = i + 1;
		if (last && failed(host->last))
			break;
	}
	return rc;
}

/*
 * The requests in the agent's form; one that can't fail goes last, so that the run ends with a
 * system call.
 */
static size_t encode(const struct inject_req *reqs, size_t n, struct agent_request *raw)
{
	size_t syscalls = 1;

	for (size_t i = 0; i < n; i++) {
		raw[i] = (struct agent_request){ .kind = reqs[i].kind, .what = reqs[i].what };
		memcpy(raw[i].args, reqs[i].args, sizeof(raw[i].args));
		syscalls += reqs[i].kind == INJECT_SYSCALL;
	}
	raw[n] = (struct agent_request){ .kind = INJECT_SYSCALL, .what = SYS_getpid };
	return syscalls;
}

/*
 * With the thread stopped and its registers read: everything from the frame to the thread's own
 * state.
 */
static int run_stopped(struct host *host, struct inject_agent *agent, struct inject_req *reqs,
		       size_t n, size_t *ret_done, struct uspl_err *err)
{
	struct agent_request raw[INJECT_MAX + 1];
	const struct proc *proc = agent->proc;
	size_t syscalls = encode(reqs, n, raw);
	int rc, restored;

	rc = set_options(proc, host->thread.tid, err);
	if (!rc)
		rc = read_state(host, err);
	if (!rc)
		rc = agent_frame_build(&host->thread.regs, &host->xstate, host->sigmask,
				       agent->addr, raw, n + 1, &host->frame, err);
	if (!rc)
		rc = write_frame(proc, host, err);
	if (rc)
		return rc;
	rc = start_agent(host, err);
	if (!rc)
		rc = run_agent(proc, host, agent, syscalls, err);
	if (!rc)
		rc = collect(proc, host, reqs, n, ret_done, err);
	restored = host->thread.state == THREAD_GONE ? 0 : restore(proc, host, rc ? NULL : err);
	agent->kept |= restored != 0;
	return rc ? rc : restored;
}

static uint64_t room_for(const struct inject_req *reqs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (reqs[i].kind == INJECT_CALL)
			return CALL_ROOM;
	return AGENT_ROOM;
}

static void host_release(struct host *host)
{
	buf_release(&host->xstate);
	buf_release(&host->stack);
	agent_frame_release(&host->frame);
}

int inject_run_stopped(struct inject_agent *agent, struct thread *thread, struct inject_req *reqs,
		       size_t n, struct uspl_err *err)
{
	struct host host = { .thread = *thread, .room = room_for(reqs, n) };
	size_t done = 0;
	int rc = n > INJECT_MAX ? uspl_fail(err, USPL_E_BUG, "%zu requests are too many", n)
				: run_stopped(&host, agent, reqs, n, &done, err);

	*thread = host.thread;
	host_release(&host);
	if (rc == UNFIT)
		rc = uspl_fail(err, USPL_E_UNSTOPPABLE,
			       "thread %d of pid %d has no room on its stack", thread->tid,
			       agent->proc->pid);
	return rc;
}

/* A set of requests on the way to a thread that can make them. */
struct errand {
	struct inject_agent *agent;
	const struct inject_choice *choice; /* NULL: any thread will do */
	struct inject_req *reqs;
	size_t n, *ret_done;
	int64_t deadline; /* for threads that can't be stopped at the moment */
};

/* UNFIT when this thread can't do it and nothing has happened; err may say why. */
static int run_on(const struct errand *errand, pid_t tid, struct uspl_err *err)
{
	const struct proc *proc = errand->agent->proc;
	const struct inject_choice *choice = errand->choice;
	struct timeouts timeouts = { .proc = proc };
	struct host host = { .thread = { .tid = tid, .timeouts = &timeouts },
			     .room = room_for(errand->reqs, errand->n) };
	struct thread *thread = &host.thread;
	int rc = thread_require_stoppable(proc, tid, errand->deadline, err);

	if (rc)
		return UNFIT;
	rc = thread_seize(proc, thread, err);
	if (rc)
		return rc;
	if (thread->state == THREAD_GONE)
		return UNFIT;
	timeouts_note(&timeouts, &tid, 1);
	thread_interrupt(thread);
	rc = thread_wait(proc, thread, clock_now_ns() + STOP_NS, err);
	if (rc == -USPL_E_UNSTOPPABLE)
		rc = UNFIT;
	if (!rc)
		rc = thread->state == THREAD_GONE || thread->signal ? UNFIT : 0;
	if (!rc)
		rc = thread_read_regs(proc, thread, err);
	if (!rc && (thread->state == THREAD_GONE || (choice && !choice->fit(choice->ctx, thread))))
		rc = UNFIT;
	if (!rc)
		rc = run_stopped(&host, errand->agent, errand->reqs, errand->n, errand->ret_done,
				 err);
	thread_release(proc, thread);
	timeouts_release(&timeouts);
	host_release(&host);
	return rc;
}

int inject_rank(const struct proc *proc, pid_t tid)
{
	auto_buf struct buf text = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", proc->pid, tid);
	if (file_read(path, &text, NULL) != 0)
		return INJECT_RANK_WORST;
	if (!strncmp(buf_str(&text), "running", 7))
		return 1;
	return syscall_restarts_unseen(strtol(buf_str(&text), NULL, 0)) ? 0 : 2;
}

static int try_threads(const struct errand *errand, const tid_vec *tids, struct uspl_err *err)
{
	const struct proc *proc = errand->agent->proc;
	struct uspl_err why = { 0 };

	for (int wanted = 0; wanted <= INJECT_RANK_WORST; wanted++) {
		const pid_t *tid;

		vec_for_each (tids, tid) {
			int rc = inject_rank(proc, *tid) == wanted ? run_on(errand, *tid, &why)
								   : UNFIT;

			if (rc < 0 && err)
				*err = why;
			if (rc != UNFIT)
				return rc;
		}
	}
	if (!errand->choice && why.code == USPL_E_UNSTOPPABLE && err)
		*err = why;
	if (!errand->choice && why.code == USPL_E_UNSTOPPABLE)
		return -USPL_E_UNSTOPPABLE;
	return uspl_fail(err, errand->choice ? USPL_E_BUSY : USPL_E_UNSTOPPABLE,
			 "no thread of pid %d can make a system call for us", proc->pid);
}

int inject_run_in(const struct proc *proc, const struct inject_choice *choice,
		  struct inject_req *reqs, size_t n, size_t *ret_done, struct uspl_err *err)
{
	struct errand errand = { .choice = choice,
				 .reqs = reqs,
				 .n = n,
				 .ret_done = ret_done,
				 .deadline = clock_now_ns() + STOP_NS };
	struct inject_agent *agent = NULL;
	tid_vec tids = { 0 };
	sigset_t all, old;
	int rc;

	if (n > INJECT_MAX)
		return uspl_fail(err, USPL_E_BUG, "%zu requests are too many", n);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	rc = inject_agent_new(proc, &agent, err);
	if (!rc)
		rc = threads_list(proc, &tids, err);
	if (!rc) {
		errand.agent = agent;
		*ret_done = 0;
		rc = try_threads(&errand, &tids, err);
	}
	inject_agent_free(agent);
	vec_release(&tids);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return rc;
}

int inject_run(const struct proc *proc, struct inject_req *reqs, size_t n, size_t *ret_done,
	       struct uspl_err *err)
{
	return inject_run_in(proc, NULL, reqs, n, ret_done, err);
}
