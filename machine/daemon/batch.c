// SPDX-License-Identifier: GPL-3.0-or-later
// batch.c - an uspl-apply at work on some processes, and what it says of them

#include "machine/daemon/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define PROGRAM "/proc/self/exe"
#define OPTION_SIZE 24 /* "--only=4194304" */

/* Its stdout is the pipe; signals are as they are in a shell. */
static int spawn(char **words, int out, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	rc = posix_spawn(ret, PROGRAM, &files, &attr, words, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

int batch_start(struct batch *batch, pid_vec *pids, struct uspl_err *err)
{
	static char name[] = "uspl-apply", enabled[] = "--enabled", all[] = "--all",
		    json[] = "--json";
	auto_free char **words = calloc(pids->n + 5, sizeof(*words));
	auto_free char(*options)[OPTION_SIZE] = calloc(pids->n, sizeof(*options));
	int ends[2], rc;

	if (!words || !options)
		return uspl_fail_nomem(err);
	words[0] = name;
	words[1] = enabled;
	words[2] = all;
	words[3] = json;
	for (size_t i = 0; i < pids->n; i++) {
		snprintf(options[i], OPTION_SIZE, "--only=%d", pids->items[i]);
		words[4 + i] = options[i];
	}
	if (pipe2(ends, O_CLOEXEC) < 0)
		return uspl_fail_errno(err, "cannot make a pipe");
	rc = spawn(words, ends[1], &batch->child);
	close(ends[1]);
	if (rc) {
		close(ends[0]);
		batch->child = 0;
		errno = rc;
		return uspl_fail_errno(err, "cannot begin '%s'", name);
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	batch->fd = ends[0];
	batch->pids = *pids;
	*pids = (pid_vec){ 0 };
	return 0;
}

bool batch_read(struct batch *batch)
{
	char part[4096];
	ssize_t got;

	while ((got = read(batch->fd, part, sizeof(part))) > 0 || (got < 0 && errno == EINTR))
		if (got > 0)
			buf_add(&batch->text, part, (size_t)got);
	return got == 0;
}

void batch_each(const struct batch *batch, void (*take)(const struct outcome *outcome, void *ctx),
		void *ctx)
{
	outcome_each(buf_str(&batch->text), take, ctx);
}

void batch_release(struct batch *batch)
{
	close(batch->fd);
	while (waitpid(batch->child, NULL, 0) < 0 && errno == EINTR)
		;
	vec_release(&batch->pids);
	buf_release(&batch->text);
	*batch = (struct batch){ 0 };
}
