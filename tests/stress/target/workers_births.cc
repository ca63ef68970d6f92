// SPDX-License-Identifier: GPL-3.0-or-later
// workers_births.cc - threads, children of fork and of posix_spawn, that come and go

#include "stress.h"

#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *short_life(void *)
{
	return reinterpret_cast<void *>(static_cast<intptr_t>(both()));
}

static void run_births(struct worker *self)
{
	for (;;) {
		pthread_t thread;
		void *answer;

		if (pthread_create(&thread, NULL, short_life, NULL) != 0 ||
		    pthread_join(thread, &answer) != 0) {
			wrong("a thread can't be made");
			continue;
		}
		expect_version("a new thread", static_cast<int>(reinterpret_cast<intptr_t>(answer)));
		self->done = self->done + 1;
		nap_us(500);
	}
}

static void await(const char *what, pid_t pid)
{
	int status = -1;

	expect_errno(what, waitpid(pid, &status, 0), 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		wrong("%s: status 0x%x", what, status);
}

static void run_fork(struct worker *self)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			int answer = both();

			_exit(answer != 11 && answer != 22);
		}
		if (pid > 0)
			await("fork", pid);
		else
			wrong("no fork");
		self->done = self->done + 1;
		nap_us(20000);
	}
}

/*
 * posix_spawn blocks the thread's signals until it returns. If the child ends before, which happens
 * where processors are scarce, its SIGCHLD isn't dropped but goes to another thread, whose call then
 * ends with EINTR, without any tool. With NO_SPAWN in the environment a child of fork does the same.
 */
static bool spawn(bool by_fork, pid_t *ret)
{
	char name[] = "/bin/true", *argv[] = { name, NULL };

	if (!by_fork)
		return posix_spawn(ret, name, NULL, NULL, argv, environ) == 0;
	*ret = fork();
	if (*ret)
		return *ret > 0;
	execv(name, argv);
	_exit(1);
}

static void run_spawn(struct worker *self)
{
	bool by_fork = getenv("NO_SPAWN");

	for (;;) {
		pid_t pid;

		if (spawn(by_fork, &pid))
			await("posix_spawn", pid);
		else
			wrong("no posix_spawn");
		self->done = self->done + 1;
		nap_us(30000);
	}
}

WORKERS(birth_workers) = { { "births", run_births, 0 },
			   { "fork", run_fork, 0 },
			   { "spawn", run_spawn, 0 },
			   {} };
