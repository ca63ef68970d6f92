// SPDX-License-Identifier: GPL-3.0-or-later
// proc_exit_test.c - the main thread of a process exits while tools open that, and others go on

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "proc/proc.h"
#include "tests/unit/tap.h"

#define ROUNDS 300

struct shared {
	volatile int ready, go;
};

static struct shared *shared;

static void *wait_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* The main thread ends at some time within a millisecond of the tool's beginning. */
static void run(int round)
{
	pthread_t thread;
	int64_t until;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&thread, NULL, wait_on, NULL);
	shared->ready = 1;
	while (!shared->go)
		continue;
	until = clock_now_ns() + round % 100 * 10000ll;
	while (clock_now_ns() < until)
		continue;
	syscall(SYS_exit, 0);
}

static pid_t start(int round)
{
	pid_t pid;

	shared->ready = shared->go = 0;
	pid = fork();
	if (!pid)
		run(round);
	while (!shared->ready)
		continue;
	return pid;
}

static bool has_exited(pid_t pid)
{
	struct proc proc = { .pid = pid, .tid = pid };

	return proc_task(&proc) != pid;
}

/* Opens the process until its main thread has exited; true if it could be each time. */
static bool open_meanwhile(pid_t pid, int (*open_it)(pid_t, struct proc **, struct uspl_err *),
			   struct uspl_err *err)
{
	bool last = false, good = true;

	shared->go = 1;
	while (good && !last) {
		auto_proc struct proc *proc = NULL;
		uint8_t byte;

		last = has_exited(pid);
		good = open_it(pid, &proc, err) == 0 &&
		       proc_read(proc, (taddr)(uintptr_t)&shared, &byte, 1, err) == 0;
	}
	return good;
}

static void test_open(const char *how, int (*open_it)(pid_t, struct proc **, struct uspl_err *))
{
	struct uspl_err first = { 0 };
	int good = 0;

	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid = start(i);
		struct uspl_err err = { 0 };

		if (open_meanwhile(pid, open_it, &err))
			good++;
		else if (!first.code)
			first = err;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	ok(good == ROUNDS, "%s while the main thread exits: %d of %d times (%s)", how, good, ROUNDS,
	   first.msg);
}

int main(void)
{
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_open("opened for writing", proc_open);
	test_open("opened for reading", proc_open_readonly);
	test_open("opened in a scan", proc_open_scan);
	return tap_done();
}
