// SPDX-License-Identifier: GPL-3.0-or-later
// subprocess.c - a program that is run to its end, and what it prints
//
// What it prints goes to files in memory, and is read when it has ended: with two pipes, it would
// have to be read from both in turns.

#include "base/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/file.h"

static int collect(int fd, struct buf *ret, struct uspl_err *err)
{
	if (fd < 0)
		return 0;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return uspl_fail_errno(err, "cannot read the output of a program");
	return file_read_fd(fd, "the output of a program", ret, err);
}

static int open_output(const struct buf *buf, int *ret, struct uspl_err *err)
{
	*ret = buf ? memfd_create("uspl-output", MFD_CLOEXEC) : -1;
	return buf && *ret < 0 ? uspl_fail_errno(err, "cannot make a file in memory") : 0;
}

static int run(const char *const *argv, const char *folder, int out, int errors, int *ret_status,
	       struct uspl_err *err)
{
	pid_t pid = fork();
	sigset_t none;
	int null;

	if (pid < 0)
		return uspl_fail_errno(err, "cannot start '%s'", argv[0]);
	if (pid == 0) {
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setenv("LC_ALL", "C", 1);
		unsetenv("POSIXLY_CORRECT");
		if ((!folder || chdir(folder) == 0) && dup2(null, STDIN_FILENO) >= 0 &&
		    dup2(out >= 0 ? out : null, STDOUT_FILENO) >= 0 &&
		    dup2(errors >= 0 ? errors : null, STDERR_FILENO) >= 0)
			execvp(argv[0], (char **)argv);
		_exit(127);
	}
	while (waitpid(pid, ret_status, 0) < 0)
		if (errno != EINTR)
			return uspl_fail_errno(err, "cannot wait for '%s'", argv[0]);
	if (WIFSIGNALED(*ret_status))
		return uspl_fail(err, USPL_E_CANCELLED, "'%s' was ended by a signal (%s)", argv[0],
				 strsignal(WTERMSIG(*ret_status)));
	return 0;
}

int subprocess_run(const char *const *argv, const char *folder, struct buf *out, struct buf *errors,
		   struct uspl_err *err)
{
	auto_close int out_fd = -1;
	auto_close int errors_fd = -1;
	bool both = out && out == errors;
	int status = 0, rc = open_output(out, &out_fd, err);

	if (rc)
		return rc;
	rc = open_output(both ? NULL : errors, &errors_fd, err);
	if (rc)
		return rc;
	rc = run(argv, folder, out_fd, both ? out_fd : errors_fd, &status, err);
	if (rc)
		return rc;
	rc = collect(out_fd, out, err);
	if (rc)
		return rc;
	rc = collect(errors_fd, errors, err);
	return rc ? rc : WEXITSTATUS(status);
}
