// SPDX-License-Identifier: GPL-3.0-or-later
// proc_current_test.c - a process calls exec while we have its memory open, and another keeps that
// alive

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "inject/inject.h"
#include "proc/proc.h"
#include "safety/drain.h"
#include "tests/unit/tap.h"

static char stack[65536];
static volatile uint64_t value = 0x5ca1ab1e;

static int keep(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
	return 0;
}

static void exec_now(int sig)
{
	(void)sig;
	if (clone(keep, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL) < 0)
		_exit(1);
	execl("/bin/sleep", "sleep", "600", NULL);
	_exit(1);
}

static pid_t start(void)
{
	sigset_t usr1, old;
	pid_t pid;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, &old);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGUSR1, exec_now);
		sigprocmask(SIG_SETMASK, &old, NULL);
		for (;;)
			pause();
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return pid;
}

/* The first line of a file in /proc/PID. */
static void read_line(pid_t pid, const char *name, char *line, int size)
{
	char path[64];
	FILE *file;

	line[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	file = fopen(path, "r");
	if (file && !fgets(line, size, file))
		line[0] = '\0';
	if (file)
		fclose(file);
}

/* It sleeps. The name alone is there when the kernel is still in the middle of exec. */
static bool is_sleep(pid_t pid)
{
	char name[32], call[256];

	read_line(pid, "comm", name, sizeof(name));
	read_line(pid, "syscall", call, sizeof(call));
	return !strcmp(name, "sleep\n") &&
	       (atoi(call) == SYS_clock_nanosleep || atoi(call) == SYS_nanosleep);
}

int main(void)
{
	int64_t deadline = clock_now_ns() + 30000000000ll;
	struct inject_req req = inject_syscall(SYS_getpid, 0, 0, 0);
	struct uspl_err err = { 0 };
	struct drain drain = { 0 };
	struct stop stop;
	struct proc *proc = NULL;
	pid_t pid = start();
	uint64_t got = 0;
	size_t done = 0;

	ok(proc_open(pid, &proc, &err) == 0, "a process is opened: %s", err.msg);
	if (!proc)
		return tap_done();
	ok(proc_check_current(proc, pid, &err) == 0, "it is the program that was opened");
	kill(pid, SIGUSR1);
	while (!is_sleep(pid) && clock_now_ns() < deadline)
		usleep(1000);
	ok(is_sleep(pid), "it has called exec");
	ok(proc_read(proc, (taddr)(uintptr_t)&value, &got, sizeof(got), &err) == 0 && got == value,
	   "its old memory can be read on, since another process shares it");
	ok(proc_check_current(proc, pid, &err) == -USPL_E_NO_PROCESS &&
		   strstr(err.msg, "has called exec"),
	   "and yet it is seen: %s", err.msg);
	err = (struct uspl_err){ 0 };
	ok(inject_run(proc, &req, 1, &done, &err) != 0 && !done,
	   "no thread of the new program gets other registers: %s", err.msg);
	err = (struct uspl_err){ 0 };
	ok(stop_prepare(&stop, proc, &err) == -USPL_E_NO_PROCESS, "none is stopped: %s", err.msg);
	drain.text.proc = proc;
	err = (struct uspl_err){ 0 };
	ok(drain_look(&drain, &err) == -USPL_E_NO_PROCESS, "none is looked at: %s", err.msg);
	ok(is_sleep(pid) && kill(pid, 0) == 0, "it lives on");
	proc_free(proc);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return tap_done();
}
