// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - looks for return addresses into a function of its own in memory

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve.h"

#define FUNCTION_MAX 128
#define PLACES 4096

int part(int n);
int step(int n);

static const uint64_t *volatile places[PLACES];
static volatile int steps;

KEPT int step(int n)
{
	return n + ++steps;
}

KEPT int part(int n)
{
	int sum = step(n);

	return sum + 1;
}

/* Leaves pointers to the places of all that is found. Returns how many there are. */
static size_t look(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], prot[8];
	uint64_t start, end, first = (uintptr_t)part;
	size_t n = 0;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &start, &end, prot) != 3 ||
		    strcmp(prot, "rw-p") || strchr(line, '[') || strchr(line, '/'))
			continue;
		for (const uint64_t *word = (const uint64_t *)(uintptr_t)start;
		     word < (const uint64_t *)(uintptr_t)end && n < PLACES; word++)
			if (*word > first && *word < first + FUNCTION_MAX)
				places[n++] = word;
	}
	if (maps)
		fclose(maps);
	return n;
}

/* From now on a child answers: its pid. */
static void go_on_in_child(char *reply, size_t size)
{
	pid_t pid = fork();

	if (pid) {
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	snprintf(reply, size, "%d", (int)getpid());
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "look"))
		snprintf(reply, size, "%s", look() ? "some" : "none");
	else if (!strcmp(request, "call"))
		snprintf(reply, size, "%d", part(0) - steps);
	else
		go_on_in_child(reply, size);
}
