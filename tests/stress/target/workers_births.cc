// SPDX-License-Identifier: GPL-3.0-or-later
// workers_births.cc - threads, children of fork and of posix_spawn, that come and go

#include "stress.h"

#include <pthread.h>
#include <spawn.h>
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

static void run_spawn(struct worker *self)
{
	char name[] = "/bin/true", *argv[] = { name, NULL };

	for (;;) {
		pid_t pid;

		if (posix_spawn(&pid, name, NULL, NULL, argv, environ) == 0)
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
