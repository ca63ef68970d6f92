// SPDX-License-Identifier: GPL-3.0-or-later
// module_file_test.c - a module's file is found when the main thread has ended since the process
// was opened

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "proc/module.h"
#include "proc/task.h"
#include "tap.h"

#define PATIENCE_NS 60000000000ll

static void *stay(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* Two threads, of which the main one ends when a byte comes. */
static void two_threads(int from)
{
	pthread_t thread;
	char byte;

	alarm(60);
	pthread_create(&thread, NULL, stay, NULL);
	if (read(from, &byte, 1) == 1)
		pthread_exit(NULL);
	_exit(1);
}

int main(void)
{
	int64_t deadline = clock_now_ns() + PATIENCE_NS;
	struct proc *proc = NULL;
	module_vec modules = { 0 };
	const struct module *program;
	int pipes[2], fd;
	pid_t pid;

	if (pipe(pipes) != 0)
		return 1;
	pid = fork();
	if (!pid)
		two_threads(pipes[0]);
	while (clock_now_ns() < deadline &&
	       (proc_open_readonly(pid, &proc, NULL) != 0 || tasks_count(proc) < 2)) {
		proc_free(proc);
		proc = NULL;
	}
	ok(proc && proc->tid == pid, "opened while its main thread lives");
	ok(modules_read(proc, &modules, NULL) == 0, "its modules are read");
	program = module_main(&modules);
	fd = program ? module_open_file(proc, program) : -1;
	ok(fd >= 0, "the program's file is opened");
	close(fd);
	ok(write(pipes[1], "x", 1) == 1, "the main thread ends");
	while (clock_now_ns() < deadline && task_state(proc, pid) != 'Z')
		;
	fd = program ? module_open_file(proc, program) : -1;
	ok(task_state(proc, pid) == 'Z' && fd >= 0, "the file is opened by the other one");
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	modules_release(&modules);
	proc_free(proc);
	return tap_done();
}
