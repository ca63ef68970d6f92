// SPDX-License-Identifier: GPL-3.0-or-later
// seize.c - a debugger for tests: traces the process it is given, says so, and lets go when its
// stdin ends: seize PID [MB]
//
// With so much memory, which the kernel frees before it lets the process go, its end takes time.

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t len = argc == 3 ? (size_t)atol(argv[2]) << 20 : 0;
	char *memory, c;

	alarm(60);
	if (len) {
		memory =
			mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED || madvise(memory, len, MADV_NOHUGEPAGE))
			return 1;
		for (size_t i = 0; i < len; i += 4096)
			memory[i] = 1;
	}
	if (argc < 2 || ptrace(PTRACE_SEIZE, atoi(argv[1]), 0L, 0L) != 0)
		return 1;
	puts("seized");
	fflush(stdout);
	return read(STDIN_FILENO, &c, 1) != 0;
}
