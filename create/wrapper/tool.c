// SPDX-License-Identifier: GPL-3.0-or-later
// tool.c - the real compiler or linker behind the wrapper's name

#include "create/wrapper/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"

/* PATH without our own folder; an empty component means the current folder and stays one. */
static char *other_path(const char *path, const char *own)
{
	struct buf rest = { 0 };
	bool first = true;

	while (path) {
		size_t len = strcspn(path, ":");

		if (len != strlen(own) || strncmp(path, own, len)) {
			if (!first)
				buf_addstr(&rest, ":");
			buf_add(&rest, path, len);
			first = false;
		}
		path = path[len] ? path + len + 1 : NULL;
	}
	return buf_take(&rest);
}

static char *search(const char *path, const char *name)
{
	while (path) {
		size_t len = strcspn(path, ":");
		char *file = NULL;

		if (asprintf(&file, "%.*s%s%s", (int)len, path, len ? "/" : "./", name) < 0)
			return NULL;
		if (access(file, X_OK) == 0)
			return file;
		free(file);
		path = path[len] ? path + len + 1 : NULL;
	}
	return NULL;
}

static int find_real(struct tool *tool, struct uspl_err *err)
{
	auto_free char *own = file_join(tool->work, "bin");
	auto_free char *rest = own ? other_path(getenv("PATH") ? getenv("PATH") : "", own) : NULL;

	if (!rest)
		return uspl_fail(err, USPL_E_BUILD, "PATH is empty");
	if (setenv("PATH", rest, 1) < 0)
		return uspl_fail_nomem(err);
	if (asprintf(&tool->path, "%s/real/%s", tool->work, tool->name) < 0) {
		tool->path = NULL;
		return uspl_fail_nomem(err);
	}
	if (access(tool->path, X_OK) == 0)
		return 0;
	free(tool->path);
	tool->path = search(rest, tool->name);
	return tool->path ? 0
			  : uspl_fail(err, USPL_E_BUILD, "there is no '%s' in PATH", tool->name);
}

int tool_find(const char *argv0, struct tool *ret, struct uspl_err *err)
{
	auto_tool struct tool tool = {
		.work = getenv("USPL_CC_WORK"),
		.phase = getenv("USPL_CC_PHASE"),
		.tree = getenv("USPL_CC_TREE"),
		.source = getenv("USPL_CC_SOURCE"),
		.name = file_basename(argv0),
	};
	int rc;

	if (!tool.work || !tool.phase || !tool.tree || !tool.source) {
		uspl_fail(err, USPL_E_USAGE,
			  "this is the compiler wrapper of uspl-create, not to be started by hand");
		return -USPL_E_USAGE;
	}
	rc = find_real(&tool, err);
	if (rc)
		return rc;
	*ret = tool;
	tool.path = NULL;
	return 0;
}

void tool_release(struct tool *tool)
{
	free(tool->path);
	tool->path = NULL;
}

int tool_add(tool_argv *argv, const char *const *words, struct uspl_err *err)
{
	for (; *words; words++) {
		const char **slot = vec_push(argv);

		if (!slot)
			return uspl_fail_nomem(err);
		*slot = *words;
	}
	return 0;
}

int tool_exec(const struct tool *tool, char **argv, struct uspl_err *err)
{
	/* By its name, as without us: some compilers look at it (clang++, ccache's links). */
	argv[0] = (char *)tool->name;
	execv(tool->path, argv);
	return uspl_fail_errno(err, "cannot run '%s'", tool->path);
}

static int spawn(const struct tool *tool, const tool_argv *args, int out, pid_t *ret_pid,
		 struct uspl_err *err)
{
	auto_free const char **argv = calloc(args->n + 2, sizeof(*argv));
	posix_spawn_file_actions_t actions;
	int rc;

	if (!argv)
		return uspl_fail_nomem(err);
	argv[0] = tool->name;
	for (size_t i = 0; i < args->n; i++)
		argv[i + 1] = args->items[i];
	if (posix_spawn_file_actions_init(&actions))
		return uspl_fail_nomem(err);
	rc = out >= 0 ? posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO) : 0;
	if (!rc)
		rc = posix_spawn(ret_pid, tool->path, &actions, NULL, (char **)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	errno = rc;
	return rc ? uspl_fail_errno(err, "cannot run '%s'", tool->path) : 0;
}

static int wait_for(pid_t pid, int *ret_status, struct uspl_err *err)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return uspl_fail_errno(err, "cannot wait for the compiler");
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 0;
}

int tool_run(const struct tool *tool, const tool_argv *args, struct buf *out, int *ret_status,
	     struct uspl_err *err)
{
	int ends[2] = { -1, -1 };
	pid_t pid;
	int rc, read_rc = 0;

	if (out && pipe2(ends, O_CLOEXEC) < 0)
		return uspl_fail_errno(err, "cannot make a pipe");
	rc = spawn(tool, args, ends[1], &pid, err);
	if (out)
		close(ends[1]);
	if (!rc && out)
		read_rc = file_read_fd(ends[0], "the linker's output", out, err);
	if (out)
		close(ends[0]);
	if (!rc)
		rc = wait_for(pid, ret_status, err);
	return rc ? rc : read_rc;
}
