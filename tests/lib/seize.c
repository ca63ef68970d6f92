// SPDX-License-Identifier: GPL-3.0-or-later
// seize.c - a debugger for tests: traces the process it is given, says so, and lets go when its
// stdin ends

#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char c;

	alarm(60);
	if (argc != 2 || ptrace(PTRACE_SEIZE, atoi(argv[1]), 0L, 0L) != 0)
		return 1;
	puts("seized");
	fflush(stdout);
	return read(STDIN_FILENO, &c, 1) != 0;
}
