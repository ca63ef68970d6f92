/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drive.h - a program that calls a library without rest, and answers questions about it
 *
 * A driver defines
 *
 *     unsigned long work(void)            one request, the same each time: what came of it
 *     const char *probe(const char *fix)  what the library does where this fix matters: "old",
 *                                         "new", or "" if that can't be told
 *
 * One thread does the work. A result that isn't the first one's is a request that was lost.
 * `count` prints the requests and the lost ones, `probe NAME` what probe says. A child is asked:
 * what a library does without its fix may be a crash. It is made between two requests, so that no
 * lock of the library is held in it for ever.
 */
#ifndef USPL_CORPUS_DRIVE_H
#define USPL_CORPUS_DRIVE_H

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned long work(void);
const char *probe(const char *fix);

static volatile unsigned long drive_requests, drive_lost;

/* What a child that was asked ends with. */
enum { drive_unknown, drive_old, drive_new };

/* Held while there is a request; and by the thread that is next, so that none is passed by. */
static pthread_mutex_t drive_turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t drive_next = PTHREAD_MUTEX_INITIALIZER;

/* For results: FNV-1a. */
static inline unsigned long digest(unsigned long sum, const void *data, size_t len)
{
	const unsigned char *byte = (const unsigned char *)data;

	while (len--)
		sum = (sum ^ *byte++) * 0x100000001b3ul;
	return sum;
}

static void drive_begin(void)
{
	pthread_mutex_lock(&drive_next);
	pthread_mutex_lock(&drive_turn);
	pthread_mutex_unlock(&drive_next);
}

static void *drive_work(void *expected)
{
	for (;;) {
		drive_begin();
		drive_lost += work() != *(unsigned long *)expected;
		pthread_mutex_unlock(&drive_turn);
		drive_requests++;
	}
	return NULL;
}

static void drive_probe(const char *fix)
{
	const struct rlimit no_core = { 0, 0 };
	int status;
	pid_t child;

	drive_begin();
	child = fork();
	pthread_mutex_unlock(&drive_turn);
	if (!child) {
		const char *says;

		setrlimit(RLIMIT_CORE, &no_core);
		alarm(20);
		/* Libraries write there, too. */
		if (!freopen("/dev/null", "w", stdout))
			_exit(drive_unknown);
		says = probe(fix);
		_exit(!strcmp(says, "old")   ? drive_old
		      : !strcmp(says, "new") ? drive_new
					     : drive_unknown);
	}
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		puts(WTERMSIG(status) == SIGALRM ? "" : "old");
	else
		puts(WEXITSTATUS(status) == drive_old   ? "old"
		     : WEXITSTATUS(status) == drive_new ? "new"
							: "");
}

int main(void)
{
	static unsigned long expected;
	char line[256];
	pthread_t thread;

	expected = work();
	if (pthread_create(&thread, NULL, drive_work, &expected))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "probe ", 6))
			drive_probe(line + 6);
		else
			printf("%lu %lu\n", drive_requests, drive_lost);
		fflush(stdout);
	}
	return 0;
}

#endif
