// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * loaded.c - preloaded into a tool that starts tracing: it waits where the first part of a trace is
 * in the process, and no function is traced yet
 *
 * There it makes the file that LOADED names, and goes on when that is gone; with LOADED_DIES in the
 * environment it dies there.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "uspl/trace_abi.h"

static void wait_here(const char *path)
{
	const struct timespec pause = { 0, 1000000 };

	if (getenv("LOADED_DIES"))
		raise(SIGKILL);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	while (access(path, F_OK) == 0)
		nanosleep(&pause, NULL);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	static ssize_t (*next)(int, const void *, size_t, off_t);
	const char *path = getenv("LOADED");
	uint64_t magic = 0;
	ssize_t n;

	if (!next)
		next = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
	n = next(fd, bytes, len, at);
	if (len >= sizeof(magic))
		memcpy(&magic, bytes, sizeof(magic));
	if (path && magic == USPL_TRACE_MAGIC)
		wait_here(path);
	return n;
}
