// SPDX-License-Identifier: GPL-3.0-or-later
// ending.c - the ends of threads and processes

#include "proc/ending.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

/* How long the end of a thread is waited for, and the pause between two looks. */
#define WAIT_NS 10000000000ll
#define PAUSE_NS 1000000

bool ending_await(pid_t tid)
{
	enum { PF_EXITING = 0x4 };
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t deadline = clock_now_ns() + WAIT_NS;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	while (clock_now_ns() < deadline) {
		auto_buf struct buf text = { 0 };
		const char *rest =
			file_read(path, &text, NULL) == 0 ? strrchr(buf_str(&text), ')') : NULL;
		unsigned int flags;
		char state;

		/* Fields 3 and 9 of proc(5). A zombie has let go of what it traced. */
		if (!rest || sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2 ||
		    state == 'Z')
			return true;
		if (!(flags & PF_EXITING))
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

int ending_open(pid_t pid, int *ret_fd, struct uspl_err *err)
{
	/* glibc has a function for it since 2.36. */
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return uspl_fail_errno(err, "cannot wait for the end of pid %d", pid);
	*ret_fd = fd;
	return 0;
}
