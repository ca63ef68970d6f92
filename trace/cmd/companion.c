// SPDX-License-Identifier: GPL-3.0-or-later
// companion.c - a process that stays with a traced one when the tool that has started it is done

#include "trace/cmd/companion.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"

#define PIPE_FD 3

bool companion_start(const char *const *argv, struct buf *ret_why)
{
	const char *setting = getenv("USPL_KEEPER");
	sigset_t none;
	int fds[2], null;
	pid_t pid;
	bool failed;

	if ((setting && !strcmp(setting, "none")) || pipe2(fds, O_CLOEXEC) < 0)
		return true;
	pid = fork();
	if (pid == 0) {
		/* Only what is safe behind a fork. */
		null = open("/dev/null", O_RDWR);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setsid();
		if (null < 0 || dup2(fds[1], PIPE_FD) < 0)
			_exit(1);
		for (int fd = 0; fd < PIPE_FD; fd++)
			if (dup2(null, fd) < 0)
				_exit(1);
		/* Where the kernel doesn't know the call, what is open has O_CLOEXEC as a rule. */
		syscall(SYS_close_range, PIPE_FD + 1, ~0u, 0);
		/* execv takes what it doesn't change as if it did. */
		execv("/proc/self/exe", (char *const *)argv);
		_exit(1);
	}
	close(fds[1]);
	failed = pid < 0 || file_read_fd(fds[0], "the companion", ret_why, NULL) != 0 ||
		 ret_why->len > 0;
	close(fds[0]);
	return failed;
}

void companion_ready(const char *why)
{
	if (*why && file_write_all(PIPE_FD, why, strlen(why)) != 0)
		log_info("trace", "nobody asks for the companion");
	close(PIPE_FD);
}
