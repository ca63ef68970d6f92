// SPDX-License-Identifier: GPL-3.0-or-later
// took.c - runs a command and prints how long it took, and how much of a processor, in us
//
//     took COMMAND...
//
// From before the fork to the end of the command; the time of a processor is what the kernel counts
// for it, exec and exit included. The command's output goes to standard error; if it fails, so does
// took.

#include <err.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t us_of(const struct timeval *time)
{
	return (int64_t)time->tv_sec * 1000000 + time->tv_usec;
}

int main(int argc, char **argv)
{
	int64_t began = now_us();
	struct rusage usage;
	int status;
	pid_t pid;

	if (argc < 2)
		errx(2, "usage: took COMMAND...");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(argv[1], argv + 1);
		err(127, "cannot run '%s'", argv[1]);
	}
	if (wait4(pid, &status, 0, &usage) != pid)
		err(1, "wait4");
	printf("%" PRId64 " %" PRId64 "\n", now_us() - began,
	       us_of(&usage.ru_utime) + us_of(&usage.ru_stime));
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
