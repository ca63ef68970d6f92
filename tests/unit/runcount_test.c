// SPDX-License-Identifier: GPL-3.0-or-later
// runcount_test.c - run counts, one by one and as a sum, and where the sum can't be had

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/capability.h>

#include "tap.h"
#include "thread/runcount.h"

#define THREADS 5

static void *leave_at_once(void *arg)
{
	return arg;
}

static void *wait_for_ever(void *arg)
{
	poll(NULL, 0, -1);
	return arg;
}

/* A process of some threads, after others have died, that answers each byte. */
static void body(int in, int out)
{
	pthread_t thread;
	char byte = 0;

	alarm(60);
	for (int i = 0; i < THREADS; i++) {
		pthread_create(&thread, NULL, leave_at_once, NULL);
		pthread_join(thread, NULL);
	}
	for (int i = 1; i < THREADS; i++)
		pthread_create(&thread, NULL, wait_for_ever, NULL);
	do {
		if (write(out, &byte, 1) != 1)
			break;
	} while (read(in, &byte, 1) == 1);
	_exit(0);
}

struct child {
	pid_t pid;
	int to, from;
};

static bool heard(const struct child *child)
{
	char byte;

	return read(child->from, &byte, 1) == 1;
}

static struct child start(void)
{
	int to[2], from[2];
	struct child child = { 0 };

	if (pipe(to) != 0 || pipe(from) != 0)
		exit(3);
	child.pid = fork();
	if (!child.pid)
		body(to[0], from[1]);
	child.to = to[1];
	child.from = from[0];
	if (!heard(&child))
		exit(3);
	return child;
}

/* Until the thread waits where it is to wait: in poll, the main one in read. */
static void wait_until_asleep(pid_t pid, pid_t tid)
{
	char path[64];
	long nr;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	do {
		auto_fclose FILE *file = fopen(path, "r");

		if (!file || fscanf(file, "%ld", &nr) != 1)
			nr = -1;
	} while (nr != SYS_poll && nr != SYS_read);
}

/* Until the threads that were to die are gone; pthread_join returns a little earlier. */
static void wait_until_gone(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	while (stat(path, &st) == 0 && st.st_nlink != THREADS + 2)
		sched_yield();
}

static void test_count(const struct proc *proc, const struct child *child)
{
	struct runcount count;
	uint64_t before;

	wait_until_asleep(proc->pid, proc->pid);
	runcount_open(&count, proc, proc->pid);
	before = runcount_read(&count, proc);
	ok(before > 0 && count.fd >= 0, "a thread's run count can be read");
	ok(runcount_read(&count, proc) == before, "it stays while the thread sleeps");
	ok(write(child->to, "x", 1) == 1 && heard(child), "the thread is woken");
	wait_until_asleep(proc->pid, proc->pid);
	ok(runcount_read(&count, proc) > before, "it grows when the thread runs");
	before = runcount_read(&count, proc);
	runcount_close(&count);
	ok(count.fd == -1 && runcount_read(&count, proc) == before,
	   "it can be read without a descriptor of its own, too");
	count = (struct runcount){ .tid = 1, .fd = -1 };
	ok(runcount_read(&count, proc) == RUNCOUNT_NONE, "a thread of another process has none");
}

static uint64_t add_up(const struct proc *proc)
{
	char path[64];
	uint64_t total = 0;
	auto_closedir DIR *dir = NULL;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", proc->pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		struct runcount count = { .tid = atoi(entry->d_name), .fd = -1 };

		if (!count.tid)
			continue;
		wait_until_asleep(proc->pid, count.tid);
		total += runcount_read(&count, proc);
	}
	return total;
}

static void test_sum(const struct proc *proc, const struct child *child)
{
	struct runsum sum;
	struct uspl_err err = { 0 };
	uint64_t first = 0, later = 0, single, awake;

	if (runcount_sum_open(&sum, proc, &err) != 0) {
		ok(true, "the sum of run counts # SKIP %s", err.msg);
		return;
	}
	single = add_up(proc);
	ok(runcount_sum_read(&sum, &first) && first >= single + THREADS,
	   "the sum holds the living threads' counts, and those of the dead");
	ok(runcount_sum_read(&sum, &later) && later == first, "it stays while all sleep");
	ok(write(child->to, "x", 1) == 1 && heard(child), "one of them is woken");
	/* It has written and goes back to sleep; until it sleeps both may still grow. */
	awake = add_up(proc);
	ok(runcount_sum_read(&sum, &later) && later - first == awake - single,
	   "it grows by as much as the threads' counts");
	runcount_sum_close(&sum);
	ok(!runcount_sum_read(&sum, &later), "one that was closed can't be read");
}

/* Whether the sum is refused, in a process of ours that isn't as we are. */
static int try_without_rights(const struct proc *proc)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { { 0 } };
	struct uspl_err err = { 0 };
	struct runsum sum;

	if (syscall(SYS_capset, &head, data) != 0)
		return 2;
	return runcount_sum_open(&sum, proc, &err) == -USPL_E_UNSUPPORTED && err.msg[0] ? 0 : 1;
}

static int try_in_namespace(const struct proc *proc)
{
	struct uspl_err err = { 0 };
	struct runsum sum;
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWPID) != 0)
		return 2;
	/* /proc is still that of the namespace outside. */
	pid = fork();
	if (!pid)
		_exit(runcount_sum_open(&sum, proc, &err) == -USPL_E_UNSUPPORTED ? 0 : 1);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

static void refused(const char *what, int (*attempt)(const struct proc *proc),
		    const struct proc *proc)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(attempt(proc));
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		ok(true, "the sum is refused %s # SKIP this can't be tried here", what);
	else
		ok(status == 0, "the sum is refused %s", what);
}

int main(void)
{
	struct child child = start();
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;

	ok(proc_open(child.pid, &proc, &err) == 0, "a process of ours (%s)", err.msg);
	if (proc) {
		wait_until_gone(child.pid);
		test_count(proc, &child);
		test_sum(proc, &child);
		refused("without CAP_NET_ADMIN", try_without_rights, proc);
		refused("where /proc is of another pid namespace", try_in_namespace, proc);
	}
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	return tap_done();
}
