// SPDX-License-Identifier: GPL-3.0-or-later
// thread.c - one thread under ptrace

#include "thread/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/file.h"
#include "base/log.h"
#include "proc/ending.h"
#include "thread/busy.h"
#include "thread/reap.h"
#include "thread/timeouts.h"

/* How long the end of a thread that is killed may take. */
#define LAST_NEWS_NS 1000000000ll
/* What PTRACE_O_TRACESYSGOOD makes of a stop at a system call. */
#define CALL_STOP (SIGTRAP | 0x80)
/* After that long without news of a thread: it may wait for others that have died. */
#define SLOW_NS 20000000ll

/* How often threads that were left behind are looked at. */
#define LEFT_PAUSE_NS 1000000

/* A thread that the tool is still attached to, which has been asked to stop, and its process. */
struct left_thread {
	pid_t pid, tid;
};

void thread_guard(sigset_t *ret_old)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, ret_old);
}

void thread_unguard(const sigset_t *old)
{
	sigprocmask(SIG_SETMASK, old, NULL);
}

/* The id of the thread's tracer, 0 if it has none; -1 if it is gone or a zombie. */
static long find_tracer(const struct proc *proc, pid_t tid)
{
	auto_buf struct buf text = { 0 };
	const char *tracer, *state;

	if (!task_status(proc, tid, &text))
		return -1;
	tracer = task_status_field(&text, "TracerPid");
	state = task_status_field(&text, "State");
	return tracer && state && !strchr("ZX", state[1]) ? atol(tracer) : -1;
}

/*
 * io_uring's and vhost's workers are listed as threads, but never run the program's code and can't
 * be traced.
 */
static bool is_kernel_worker(const struct proc *proc, pid_t tid)
{
	enum { PF_IO_WORKER = 0x10, PF_USER_WORKER = 0x4000 }; /* include/linux/sched.h */
	auto_buf struct buf text = { 0 };
	const char *flags = task_stat(proc, tid, 9, &text);

	return flags && (strtoul(flags, NULL, 10) & (PF_IO_WORKER | PF_USER_WORKER));
}

int thread_fail_unstoppable(const struct proc *proc, pid_t tid, struct uspl_err *err)
{
	auto_buf struct buf wchan = { 0 };
	char path[64], name[TASK_NAME_LEN], load[BUSY_TEXT_LEN], state;

	if (!err)
		return -USPL_E_UNSTOPPABLE;
	state = task_state(proc, tid);
	task_name(proc, tid, name);
	if (state == 'R') {
		busy_describe(load);
		uspl_fail(err, USPL_E_UNSTOPPABLE,
			  "thread %d (%s) of pid %d does not stop: it wants to run (state R), and "
			  "its turn doesn't come",
			  tid, name, proc->pid);
		uspl_hint(err, "%s; try again when it is less busy, or with a longer --wait", load);
		return -USPL_E_UNSTOPPABLE;
	}
	snprintf(path, sizeof(path), "/proc/%d/task/%d/wchan", proc->pid, tid);
	if (file_read(path, &wchan, NULL) != 0 || !wchan.len)
		buf_addstr(&wchan, "?");
	uspl_fail(err, USPL_E_UNSTOPPABLE,
		  "thread %d (%s) of pid %d does not stop: state %c, waiting in '%s'", tid, name,
		  proc->pid, state, buf_str(&wchan));
	uspl_hint(err, "a thread in uninterruptible sleep, of a frozen control group, or in "
		       "vfork() can't be stopped; try again later, or with a longer --wait");
	return -USPL_E_UNSTOPPABLE;
}

/* Why a thread can't be seized: it exits, another process traces it, or the tool may not. */
static int explain_seize(const struct proc *proc, struct thread *thread, struct uspl_err *err)
{
	int errnum = errno;
	long tracer = find_tracer(proc, thread->tid);

	if (errnum == ESRCH || tracer < 0 || is_kernel_worker(proc, thread->tid)) {
		thread->state = THREAD_GONE;
		return 0;
	}
	/*
	 * The tool has asked it before, and gave up when it didn't stop in time; or the thread is
	 * looked after (tracer_thread.h).
	 */
	if (tracer == gettid()) {
		thread->state = THREAD_SEIZED;
		return 0;
	}
	/* The tool's main thread: another attempt may find that it has stopped. */
	if (tracer == getpid())
		return thread_fail_unstoppable(proc, thread->tid, err);
	/* It ends just now, or has ended since. */
	if (errnum == EPERM && tracer > 0 && ending_await((pid_t)tracer))
		return thread_seize(proc, thread, err);
	if (tracer > 0) {
		uspl_fail(err, USPL_E_TRACED, "thread %d of pid %d is traced by pid %ld already",
			  thread->tid, proc->pid, tracer);
		uspl_hint(err, "detach the debugger or tracer, then try again");
		return -USPL_E_TRACED;
	}
	errno = errnum;
	return uspl_fail_errno(err, "cannot attach to thread %d of pid %d", thread->tid, proc->pid);
}

int thread_seize(const struct proc *proc, struct thread *thread, struct uspl_err *err)
{
	if (ptrace(PTRACE_SEIZE, thread->tid, NULL, NULL) != 0)
		return explain_seize(proc, thread, err);
	thread->state = THREAD_SEIZED;
	return 0;
}

void thread_interrupt(struct thread *thread)
{
	struct timeout *timeout;

	if (thread->state != THREAD_SEIZED)
		return;
	timeout = thread->timeouts ? timeouts_ask(thread->timeouts, thread->tid) : NULL;
	/* ESRCH: it is exiting; the wait will tell. */
	ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	if (timeout)
		timeouts_asked(thread->timeouts, timeout);
	thread->state = THREAD_ASKED;
}

/*
 * Takes a wait status apart. A stop for a signal on its way to be delivered is as good as the one
 * that was asked for.
 */
static void note_stop(struct thread *thread, int status)
{
	thread->leaving = false;
	if (!WIFSTOPPED(status)) {
		thread->state = THREAD_GONE;
		return;
	}
	thread->state = THREAD_STOPPED;
	thread->at_call = status >> 16 == 0 && WSTOPSIG(status) == CALL_STOP;
	thread->signal = status >> 16 || thread->at_call ? 0 : WSTOPSIG(status);
	thread->group_stopped = status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
	thread->regs_valid = false;
}

int thread_require_stoppable(const struct proc *proc, pid_t tid, int64_t deadline,
			     struct uspl_err *err)
{
	static const struct timespec pause = { 0, 1000000 };

	/* The kernel doesn't tell when such a sleep ends. */
	while (task_state(proc, tid) == 'D') {
		if (clock_now_ns() > deadline || cancel_pending())
			return thread_fail_unstoppable(proc, tid, err);
		nanosleep(&pause, NULL);
	}
	return 0;
}

int thread_wait(const struct proc *proc, struct thread *thread, int64_t deadline,
		struct uspl_err *err)
{
	int64_t spin_until = clock_now_ns() + THREAD_SPIN_NS;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (thread->state == THREAD_ASKED) {
		/*
		 * Before the look: on a busy machine the tool's turn may come only after the
		 * deadline.
		 */
		int64_t now = clock_now_ns(), left = deadline - now;
		int status;
		pid_t got = waitpid(thread->tid, &status, __WALL | WNOHANG);
		struct timespec timeout = { 0, left < SLOW_NS ? left : SLOW_NS };

		if (got == thread->tid)
			note_stop(thread, status);
		else if (got < 0 && errno == ECHILD)
			thread->state = THREAD_GONE;
		/* Whatever else goes wrong with the wait, the thread will stop all the same. */
		else if (left <= 0)
			return thread_fail_unstoppable(proc, thread->tid, err);
		else if (now >= spin_until && sigtimedwait(&child, NULL, &timeout) < 0) {
			reap_now();
			/* After ^C the tool goes soon; but as long as it waits it does no harm. */
			if (cancel_pending() && deadline > now + STOP_LIMIT_NS)
				deadline = now + STOP_LIMIT_NS;
		}
	}
	return 0;
}

/*
 * Those that the main thread has left behind. A thread of the tool's that traces leaves none
 * (tracer_thread.h).
 */
static VEC(struct left_thread) left_behind;
static bool at_exit; /* the end of the process waits for them */

bool thread_can_leave_behind(void)
{
	return getpid() == syscall(SYS_gettid);
}

void thread_leave_behind(const struct proc *proc, const struct thread *thread)
{
	struct left_thread *left;

	vec_for_each (&left_behind, left)
		if (left->tid == thread->tid)
			return;
	left = thread_can_leave_behind() ? vec_push(&left_behind) : NULL;
	if (!left)
		return;
	*left = (struct left_thread){ proc->pid, thread->tid };
	if (!at_exit)
		at_exit = atexit(thread_end_left) == 0;
}

/* Lets those go that have stopped. None should stand still for another one. */
static bool release_left(void)
{
	size_t n = 0;

	for (size_t i = 0; i < left_behind.n; i++) {
		const struct left_thread left = left_behind.items[i];
		const struct proc proc = { .pid = left.pid, .tid = left.tid, .mem_fd = -1 };
		struct thread thread = { .tid = left.tid, .state = THREAD_ASKED };

		if (thread_wait(&proc, &thread, 0, NULL) == 0)
			thread_release(&proc, &thread);
		else
			left_behind.items[n++] = left;
	}
	left_behind.n = n;
	return !n;
}

void thread_fetch_left(int64_t deadline)
{
	static const struct timespec pause = { 0, LEFT_PAUSE_NS };

	while (!release_left() && clock_now_ns() < deadline && !cancel_pending())
		nanosleep(&pause, NULL);
}

bool thread_is_about(const struct proc *proc, pid_t tid)
{
	char state = task_state(proc, tid);

	return state == 'R' || state == 't';
}

static bool is_left_about(void)
{
	const struct left_thread *left;

	vec_for_each (&left_behind, left) {
		const struct proc proc = { .pid = left->pid, .tid = left->tid, .mem_fd = -1 };

		if (thread_is_about(&proc, left->tid))
			return true;
	}
	return false;
}

void thread_end_left(void)
{
	static const struct timespec pause = { 0, LEFT_PAUSE_NS };
	int64_t until = clock_now_ns() + THREAD_END_NS;

	if (release_left())
		return;
	log_info("stop", "waiting for %zu threads that were asked to stop", left_behind.n);
	/* Whatever has ended the command: it takes another signal to end this. */
	cancel_forget();
	while (is_left_about() && !release_left() && clock_now_ns() < until && !cancel_pending())
		nanosleep(&pause, NULL);
}

int thread_stop(const struct proc *proc, struct thread *thread, int64_t deadline,
		struct uspl_err *err)
{
	int rc = thread_seize(proc, thread, err);

	if (rc)
		return rc;
	thread_interrupt(thread);
	return thread_wait(proc, thread, deadline, err);
}

/* Makes the call that the stop has interrupted one that goes on, with the time that it has left. */
static bool hide_interruption(struct thread *thread)
{
	bool shortened =
		thread->timeouts && timeouts_shorten(thread->timeouts, thread->tid, &thread->regs);

	return regs_hide_interruption(&thread->regs) || shortened;
}

/*
 * A thread that has been killed while it stood still (another one has called exec, or exit) stays a
 * zombie until the tool has asked for it. The thread that calls exec waits for that, with a lock
 * that the next PTRACE_SEIZE wants.
 */
static void take_leave(const struct proc *proc, struct thread *thread)
{
	thread->state = THREAD_ASKED;
	if (thread_wait(proc, thread, clock_now_ns() + LAST_NEWS_NS, NULL) != 0)
		log_info("stop", "nothing is heard of thread %d any more", thread->tid);
	thread->state = THREAD_GONE;
}

int thread_read_regs(const struct proc *proc, struct thread *thread, struct uspl_err *err)
{
	pid_t tid = thread->tid;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &thread->regs.user) == 0 &&
	    (!hide_interruption(thread) ||
	     ptrace(PTRACE_SETREGS, tid, NULL, &thread->regs.user) == 0)) {
		thread->regs_valid = true;
		return 0;
	}
	if (errno != ESRCH)
		return uspl_fail_errno(err, "cannot read the registers of thread %d of pid %d", tid,
				       proc->pid);
	take_leave(proc, thread);
	return 0;
}

taddr thread_rseq(const struct thread *thread)
{
	struct __ptrace_rseq_configuration conf = { 0 };
	long len = ptrace(PTRACE_GET_RSEQ_CONFIGURATION, thread->tid, (void *)sizeof(conf), &conf);

	return len == (long)sizeof(conf) ? conf.rseq_abi_pointer : 0;
}

/* Lets a STOPPED thread go on; false if it is GONE. */
static bool go_on(const struct proc *proc, struct thread *thread, enum __ptrace_request how)
{
	/*
	 * To read the registers mends an interrupted call, which else ends with EINTR. A call that
	 * has ended by itself keeps its result.
	 */
	if (!thread->regs_valid && !thread->at_call && thread_read_regs(proc, thread, NULL) != 0)
		log_info("stop", "a call of thread %d may be interrupted", thread->tid);
	if (thread->state != THREAD_STOPPED)
		return false;
	if (ptrace(how, thread->tid, NULL, (void *)(long)thread->signal) == 0 || errno != ESRCH)
		return true;
	take_leave(proc, thread);
	return false;
}

void thread_release(const struct proc *proc, struct thread *thread)
{
	if (thread->state == THREAD_STOPPED && go_on(proc, thread, PTRACE_DETACH))
		thread->state = THREAD_FREE;
}

void thread_resume(const struct proc *proc, struct thread *thread)
{
	if (thread->state == THREAD_STOPPED &&
	    go_on(proc, thread, thread->group_stopped ? PTRACE_LISTEN : PTRACE_CONT))
		thread->state = THREAD_SEIZED;
}

bool thread_send_back(const struct proc *proc, struct thread *thread)
{
	if (thread->state != THREAD_STOPPED || thread->signal || thread->group_stopped ||
	    !regs_will_restart(&thread->regs) ||
	    ptrace(PTRACE_SETOPTIONS, thread->tid, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0 ||
	    !go_on(proc, thread, PTRACE_SYSCALL))
		return false;
	thread->state = THREAD_ASKED;
	return true;
}

int thread_hold(const struct proc *proc, struct thread *thread, int64_t deadline,
		struct uspl_err *err)
{
	int rc = thread_wait(proc, thread, deadline, err);

	if (rc)
		return rc;
	/* It is before the call. If not, it may be anywhere. */
	if (thread->state == THREAD_STOPPED && thread->at_call &&
	    go_on(proc, thread, PTRACE_SYSCALL))
		thread->state = THREAD_HELD;
	return 0;
}

bool thread_leave_call(const struct proc *proc, struct thread *thread)
{
	struct arch_regs regs;

	if (thread->state != THREAD_STOPPED || !thread->at_call ||
	    ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs.user) != 0 ||
	    !regs_hide_interruption(&regs) ||
	    ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) != 0 ||
	    !go_on(proc, thread, PTRACE_CONT))
		return false;
	thread->state = THREAD_SEIZED;
	thread->leaving = true;
	return true;
}

void thread_poll(struct thread *thread)
{
	int status;

	if ((thread->state == THREAD_SEIZED || thread->state == THREAD_HELD) &&
	    waitpid(thread->tid, &status, __WALL | WNOHANG) == thread->tid)
		note_stop(thread, status);
}
