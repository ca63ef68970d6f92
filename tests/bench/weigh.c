// SPDX-License-Identifier: GPL-3.0-or-later
// weigh.c - runs a command and prints what it took
//
//     weigh COMMAND...
//
// A line of five numbers: the time that passed and the processors' time of the command and of all
// that it started, the processors' time of its own process, all in us; the most memory that its own
// process had, and the most that any of the processes had, in kB. The command's output goes to
// standard error; if it fails, so does weigh.

#include <err.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_US = 20000 };

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

/* What the process had at most so far, in kB; 0 once it is a zombie. */
static long peak_of(pid_t pid)
{
	char path[64], line[256];
	long peak = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmHWM:", 6))
			peak = atol(line + 6);
	if (f)
		fclose(f);
	return peak;
}

/* Its own time, which a zombie still has. */
static int64_t own_us(pid_t pid)
{
	char path[64], text[1024];
	unsigned long user = 0, system = 0;
	size_t len;
	char *p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		err(1, "%s", path);
	len = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[len] = '\0';
	p = strrchr(text, ')');
	if (!p || sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
			 &system) != 2)
		errx(1, "%s can't be read", path);
	return (int64_t)(user + system) * (1000000 / sysconf(_SC_CLK_TCK));
}

/* Waits for the end of the process, and leaves a zombie. */
static long watch(pid_t pid)
{
	long peak = 0;

	for (;;) {
		siginfo_t info = { 0 };
		long now = peak_of(pid);

		peak = now > peak ? now : peak;
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) < 0)
			err(1, "waitid");
		if (info.si_pid)
			return peak;
		usleep(LOOK_US);
	}
}

int main(int argc, char **argv)
{
	int64_t began = now_us(), took, own;
	struct rusage usage;
	long peak;
	int status;
	pid_t pid;

	if (argc < 2)
		errx(2, "usage: weigh COMMAND...");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(argv[1], argv + 1);
		err(127, "cannot run '%s'", argv[1]);
	}
	peak = watch(pid);
	took = now_us() - began;
	own = own_us(pid);
	if (wait4(pid, &status, 0, &usage) != pid)
		err(1, "wait4");
	printf("%" PRId64 " %" PRId64 " %" PRId64 " %ld %ld\n", took,
	       us_of(&usage.ru_utime) + us_of(&usage.ru_stime), own, peak, usage.ru_maxrss);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
