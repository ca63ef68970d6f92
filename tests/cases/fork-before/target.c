// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a child of its own making answer, too

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "serve.h"

KEPT const char *text(void);

static int to_child[2], from_child[2];

const char *text(void)
{
	return "old";
}

/* Answers with the same text, a byte for each request. */
static void child_main(void)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(to_child[0], &byte, 1) == 1 && write(from_child[1], text(), 3) == 3)
		;
	_exit(0);
}

static void make_child(char *reply, size_t size)
{
	pid_t pid = -1;

	if (pipe(to_child) == 0 && pipe(from_child) == 0)
		pid = fork();
	if (pid == 0)
		child_main();
	snprintf(reply, size, "%d", pid);
}

static void ask_child(char *reply, size_t size)
{
	char word[4] = "";

	if (write(to_child[1], "x", 1) == 1 && read(from_child[0], word, 3) == 3)
		snprintf(reply, size, "%s", word);
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "fork"))
		make_child(reply, size);
	else if (!strcmp(request, "child"))
		ask_child(reply, size);
	else
		snprintf(reply, size, "%s", text());
}
