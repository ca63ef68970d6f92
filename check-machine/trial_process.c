// SPDX-License-Identifier: GPL-3.0-or-later
// trial_process.c - processes of our own on which the machine is tried

#include "check-machine/trial_process.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/shadow_stack.h"
#include "base/clock.h"
#include <uspl/branch.h>

/* How often the parent looks whether the trial is there. */
#define PAUSE_NS 100000
#define GUEST_STACK 16384

/* The page is shared between processes: no private futexes. */
static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

/* The child that shares the trial's memory: it runs on a stack of its own, and touches nothing. */
static int be_guest(void *arg)
{
	struct trial_page *page = arg;

	page->done++;
	futex(&page->done, FUTEX_WAKE, INT32_MAX, NULL);
	while (page->job == TRIAL_SHARE)
		futex(&page->job, FUTEX_WAIT, TRIAL_SHARE, NULL);
	syscall(SYS_exit, 0);
	return 0;
}

__attribute__((noinline)) void trial_work(struct trial_page *page)
{
	if (uspl_likely(page->job == TRIAL_PASS))
		page->passed++;
	__asm__ volatile("" : : : "memory");
}

__attribute__((noinline)) void trial_pass(struct trial_page *page)
{
	/* With the caller's frame pointer below the return address. */
	page->sp = (uint64_t)(uintptr_t)__builtin_frame_address(0) + sizeof(void *);
	trial_work(page);
}

static void *be_second(void *arg)
{
	static uint8_t stack[GUEST_STACK] __attribute__((aligned(16)));
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct trial_page *page = arg;

	page->tid = gettid();
	for (;;) {
		uint32_t job = page->job;

		if (job == TRIAL_PASS)
			trial_pass(page);
		if (job != TRIAL_SHARE) {
			page->done++;
			futex(&page->done, FUTEX_WAKE, INT32_MAX, NULL);
		} else {
			pid_t guest =
				clone(be_guest, stack + sizeof(stack), CLONE_VM | SIGCHLD, page);

			while (guest > 0 && waitpid(guest, NULL, 0) < 0 && errno == EINTR)
				;
		}
		while (page->job == job && job == TRIAL_RUN)
			;
		/* Until there is another job: gives tracers something to see. */
		while (page->job == job && job == TRIAL_WAKE) {
			for (int64_t until = clock_now_ns() + nap.tv_nsec; clock_now_ns() < until;)
				;
			nanosleep(&nap, NULL);
		}
		while (page->job == job)
			futex(&page->job, FUTEX_WAIT, job, NULL);
	}
	return NULL;
}

/* The trial's life; its parent ends it. */
static _Noreturn void be_trial(struct trial_page *page, enum trial_kind kind, pid_t parent)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog program = { 1, &allow };
	pthread_t second;
	int64_t answer = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/*
	 * Whatever rights the tool's file has given to us, the trial stands for any process of the
	 * user.
	 */
	prctl(PR_SET_DUMPABLE, 1);
	if (getppid() != parent)
		_exit(1);
	if (kind == TRIAL_SHADOWED)
		shadow_sleep(&page->answer);
	if (kind == TRIAL_CONFINED && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
				       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0))
		answer = -errno;
	if (pthread_create(&second, NULL, be_second, page) != 0)
		_exit(1);
	page->answer = answer;
	for (;;)
		pause();
}

/* Waits until the trial says that it is there; fails if it dies on the way. */
static int await_trial(const struct trial *trial, struct uspl_err *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int64_t deadline = clock_now_ns() + TRIAL_PATIENCE_NS;

	while (trial->page->answer == TRIAL_OPEN || (!trial->page->tid && !trial->page->answer)) {
		siginfo_t ended = { 0 };

		if (waitid(P_PID, (id_t)trial->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		    ended.si_pid)
			return uspl_fail(err, USPL_E_SYSTEM, "a child of this program ended");
		if (clock_now_ns() > deadline)
			return uspl_fail(err, USPL_E_SYSTEM,
					 "a child of this program got no processor");
		nanosleep(&pause, NULL);
	}
	return 0;
}

int trial_start(struct trial *trial, enum trial_kind kind, struct uspl_err *err)
{
	pid_t parent = getpid();
	int rc;

	*trial = (struct trial){ 0 };
	trial->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (trial->page == MAP_FAILED)
		return uspl_fail_errno(err, "cannot map memory");
	trial->page->answer = TRIAL_OPEN;
	if (kind == TRIAL_SHADOWED)
		trial->page->tid = -1;
	trial->pid = fork();
	if (trial->pid == 0)
		be_trial(trial->page, kind, parent);
	if (trial->pid < 0) {
		rc = uspl_fail_errno(err, "cannot fork");
		trial->pid = 0;
		trial_end(trial);
		return rc;
	}
	rc = await_trial(trial, err);
	if (rc)
		trial_end(trial);
	return rc;
}

void trial_end(struct trial *trial)
{
	if (trial->pid) {
		kill(trial->pid, SIGKILL);
		waitpid(trial->pid, NULL, 0);
	}
	if (trial->page && trial->page != MAP_FAILED)
		munmap(trial->page, PAGE);
	*trial = (struct trial){ 0 };
}

int trial_do(const struct trial *trial, enum trial_job job, struct uspl_err *err)
{
	struct trial_page *page = trial->page;
	uint32_t before = page->done;
	int64_t deadline = clock_now_ns() + TRIAL_PATIENCE_NS;

	page->job = job;
	futex(&page->job, FUTEX_WAKE, INT32_MAX, NULL);
	while (page->done == before) {
		int64_t left = deadline - clock_now_ns();
		struct timespec timeout = { left / 1000000000, left % 1000000000 };

		if (left <= 0)
			return uspl_fail(err, USPL_E_SYSTEM,
					 "a thread of a child of this program doesn't run");
		futex(&page->done, FUTEX_WAIT, before, &timeout);
	}
	return 0;
}
