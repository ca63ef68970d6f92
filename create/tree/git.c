// SPDX-License-Identifier: GPL-3.0-or-later
// git.c - what a build may ask git of the tree's copy
//
// Many programs take their version from `git describe`, and code that shows it refers to that
// string. So the copy is a repository, too: with the user's commits, by reference (gitrepository-
// layout(5), objects/info/alternates), and with references and an index of its own, so that nothing
// is written to the user's. The files that a patch changes count as unchanged: the version must be
// the same in both builds, without "-dirty".

#include "create/tree/git.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"
#include "create/tree/paths.h"
#include "create/tree/tree.h"
#include "create/tree/tree_mirror.h"

static int refer_objects(const char *from, const char *to, struct uspl_err *err)
{
	auto_free char *info = file_join(to, "objects/info");
	auto_free char *alternates = file_join(to, "objects/info/alternates");
	auto_buf struct buf text = { 0 };
	int rc;

	if (!info || !alternates)
		return uspl_fail_nomem(err);
	buf_addf(&text, "%s/objects\n", from);
	if (text.oom)
		return uspl_fail_nomem(err);
	rc = file_mkdirs(info, err);
	if (rc)
		return rc;
	return file_write(alternates, text.data, text.len, err);
}

/* The user's own settings, such as hooks and helpers, have no place in the copy. */
static int write_config(const char *from, const char *to, struct uspl_err *err)
{
	static const char config[] = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
	auto_free char *source = file_join(from, "config");
	auto_free char *copy = file_join(to, "config");
	auto_buf struct buf text = { 0 };

	if (!source || !copy)
		return uspl_fail_nomem(err);
	/* But it may tell of another format of objects or references. */
	if (!file_read(source, &text, NULL) && strstr(buf_str(&text), "[extensions]"))
		return file_copy(source, copy, err);
	return file_write(copy, config, strlen(config), err);
}

int git_copy(const struct build_paths *paths, struct uspl_err *err)
{
	static const char *const parts[] = { "HEAD",  "packed-refs", "shallow",
					     "index", "refs",        "reftable" };
	auto_free char *from = file_join(paths->source, ".git");
	auto_free char *to = file_join(paths->tree, ".git");
	struct stat st;
	int rc;

	if (!from || !to)
		return uspl_fail_nomem(err);
	/* In a work tree or a submodule .git is a file, which leads elsewhere. */
	if (stat(from, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	rc = refer_objects(from, to, err);
	if (rc)
		return rc;
	rc = write_config(from, to, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		auto_free char *part = file_join(from, parts[i]);
		auto_free char *copy = file_join(to, parts[i]);

		if (!part || !copy)
			return uspl_fail_nomem(err);
		if (stat(part, &st) < 0)
			continue;
		rc = S_ISDIR(st.st_mode) ? tree_mirror(part, copy, err)
					 : file_copy(part, copy, err);
		if (rc)
			return rc;
	}
	return 0;
}

void git_hide_changes(const struct build_paths *paths, const strvec *patched)
{
	auto_free char *index = file_join(paths->tree, ".git/index");
	char **file;

	if (!index || access(index, F_OK) < 0)
		return;
	vec_for_each (patched, file) {
		pid_t pid = fork();

		if (pid == 0) {
			int null = open("/dev/null", O_RDWR | O_CLOEXEC);

			if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
			    dup2(null, STDOUT_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0)
				execlp("git", "git", "-C", paths->tree, "update-index",
				       "--assume-unchanged", "--", *file, (char *)NULL);
			_exit(127);
		}
		/* A file that git doesn't know can't be marked, and needn't be. */
		while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
}
