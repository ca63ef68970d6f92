// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a server in which nothing lasts: children of vfork and posix_spawn, threads, libraries
// and mappings come and go all the time, while threads call the function that is patched

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve.h"

KEPT int version(void);

int version(void)
{
	return 1;
}

static atomic_ulong n_wrong, n_steps[16];
static char first[128];
static bool with_spawns;

static void expect(const char *what, long is, long should)
{
	if (is != should && !n_wrong++)
		snprintf(first, sizeof(first), "%s: %ld, not %ld", what, is, should);
}

static void expect_version(void)
{
	int is = version();

	if (is != 1 && is != 2)
		expect("version", is, 1);
}

static void expect_child(const char *what, pid_t pid)
{
	int status = -1;

	expect(what, waitpid(pid, &status, 0), pid);
	expect(what, status, 0);
}

static void vforks(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	expect_child("vfork", pid);
}

static void spawns(void)
{
	static char name[] = "true";
	char *const argv[] = { name, NULL };
	pid_t pid = 0;

	expect("posix_spawn", posix_spawn(&pid, "/bin/true", NULL, NULL, argv, NULL), 0);
	expect_child("posix_spawn", pid);
}

static void loads(void)
{
	void *library = dlopen("./libplugin.so", RTLD_NOW | RTLD_LOCAL);
	int (*twice)(int);

	expect("dlopen", !library, 0);
	if (!library)
		return;
	twice = (int (*)(int))dlsym(library, "twice");
	expect("twice", twice ? twice(21) : 0, 42);
	dlclose(library);
	usleep(500);
}

static void *ends_soon(void *arg)
{
	expect_version();
	return arg;
}

static void makes_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		expect("pthread_create", pthread_create(&threads[i], NULL, ends_soon, NULL), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	usleep(200);
}

static void maps(void)
{
	void *memory[8];

	for (int i = 0; i < 8; i++)
		memory[i] = mmap(NULL, 65536 << i % 4, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	for (int i = 0; i < 8; i++)
		munmap(memory[i], 65536 << i % 4);
	usleep(300);
}

static void calls(void)
{
	expect_version();
	usleep(100);
}

/*
 * A call that ends early if a tool disturbs it. So it does without any tool beside posix_spawn,
 * which blocks the thread's signals until it returns: if the child ends before, SIGCHLD goes to
 * another.
 */
static void sleeps(void)
{
	static _Thread_local int epoll = -1;
	struct epoll_event event;
	int n;

	if (epoll < 0)
		epoll = epoll_create1(EPOLL_CLOEXEC);
	n = epoll_wait(epoll, &event, 1, 50);
	if (n < 0 && errno == EINTR && with_spawns)
		return;
	expect("epoll_wait", n, 0);
	expect_version();
}

static void (*const kinds[])(void) = { vforks, spawns, loads, makes_threads, maps, calls, sleeps };

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void *works(void *arg)
{
	size_t i = (size_t)arg;

	for (;;) {
		kinds[i]();
		n_steps[i]++;
	}
	return NULL;
}

static void start(void)
{
	pthread_t thread;

	alarm(3600);
	for (size_t i = 0; i < KINDS; i++)
		if (with_spawns || kinds[i] != spawns)
			expect("pthread_create", pthread_create(&thread, NULL, works, (void *)i),
			       0);
}

/* How many have done nothing since this was asked last. */
static int count_idle(void)
{
	static unsigned long before[KINDS];
	int idle = 0;

	for (size_t i = 0; i < KINDS; i++) {
		idle += (with_spawns || kinds[i] != spawns) && n_steps[i] == before[i];
		before[i] = n_steps[i];
	}
	return idle;
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strncmp(request, "start", 5)) {
		with_spawns = !strcmp(request, "start all");
		start();
		snprintf(reply, size, "started");
	} else if (!strcmp(request, "version")) {
		snprintf(reply, size, "%d", version());
	} else if (!strcmp(request, "wrong")) {
		snprintf(reply, size, "%lu wrong%s%s", (unsigned long)n_wrong, n_wrong ? ": " : "",
			 first);
	} else {
		snprintf(reply, size, "%d idle", count_idle());
	}
}
