// SPDX-License-Identifier: GPL-3.0-or-later
// forks.c - executes the program that its arguments name, as a daemon is begun: a child of a child,
// whose parents have ended

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	(void)argc;
	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		if (child < 0) {
			perror("fork");
			return 1;
		}
		if (child > 0)
			return 0;
		setsid();
	}
	execv(argv[1], argv + 1);
	perror(argv[1]);
	return 1;
}
