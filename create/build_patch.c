// SPDX-License-Identifier: GPL-3.0-or-later
// build_patch.c - reading, checking and applying diffs
//
// The system's patch(1) applies them, told to read nothing but unified diffs (it would hand an ed
// script to ed). Before it sees a diff, every name in it is checked: patch would pass over a name
// that leads out of the tree and take another one; we refuse, since no honest diff has one.

#include "create/build_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* ---- names ---- */

/* A C string in quotes, as git writes unusual names. Returns what follows it. */
static const char *unquote(const char *p, struct buf *name)
{
	for (p++; *p && *p != '"' && *p != '\n'; p++) {
		char c = *p;

		if (c == '\\' && p[1] >= '0' && p[1] <= '3') {
			int value = 0;

			for (int i = 0; i < 3 && p[1] >= '0' && p[1] <= '7'; i++)
				value = value * 8 + (*++p - '0');
			c = (char)value;
		} else if (c == '\\' && p[1]) {
			c = *++p;
		}
		buf_add(name, &c, 1);
	}
	return *p == '"' ? p + 1 : p;
}

static bool leaves_tree(const char *name)
{
	if (!strcmp(name, "/dev/null"))
		return false;
	if (*name == '/')
		return true;
	while (*name) {
		size_t len = strcspn(name, "/");

		if (len == 2 && !strncmp(name, "..", 2))
			return true;
		name += len + (name[len] == '/');
	}
	return false;
}

static int check_name(const char *patch, const char *text, const char *ends, struct uspl_err *err)
{
	auto_buf struct buf name = { 0 };

	if (*text == '"')
		unquote(text, &name);
	else
		buf_add(&name, text, strcspn(text, ends));
	if (name.oom)
		return uspl_fail_nomem(err);
	if (leaves_tree(buf_str(&name)))
		return uspl_fail(err, USPL_E_HOSTILE, "'%s' changes '%s', which is not in the tree",
				 patch, buf_str(&name));
	return 0;
}

/* Lines that name a file, with what comes before the name. */
static const char *const name_lines[] = {
	"--- ", "+++ ", "Index: ", "rename from ", "rename to ", "copy from ", "copy to ",
};

static int check_line(const char *patch, const char *line, struct uspl_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(name_lines); i++)
		if (starts_with(line, name_lines[i]))
			return check_name(patch, line + strlen(name_lines[i]), "\t\r\n", err);
	if (starts_with(line, "diff --git ")) {
		const char *second = strstr(line + 11, " b/");
		const char *end = strchr(line, '\n');
		int rc = check_name(patch, line + 11, " \n", err);

		if (rc || !second || (end && second > end))
			return rc;
		return check_name(patch, second + 1, "\r\n", err);
	}
	return 0;
}

/* ---- hunks ---- */

/* The lines that are still to come in a hunk. */
struct hunk {
	unsigned long before, after;
};

/* One half of "@@ -A,B +C,D @@": ",B" may be missing and is 1 then. */
static const char *parse_range(const char *p, char sign, unsigned long *ret_lines)
{
	char *end;

	if (*p++ != sign || *p < '0' || *p > '9')
		return NULL;
	strtoul(p, &end, 10);
	*ret_lines = 1;
	if (*end == ',')
		*ret_lines = strtoul(end + 1, &end, 10);
	return *end == ' ' ? end + 1 : NULL;
}

static bool parse_hunk(const char *line, struct hunk *ret)
{
	if (!starts_with(line, "@@ "))
		return false;
	line = parse_range(line + 3, '-', &ret->before);
	return line && parse_range(line, '+', &ret->after);
}

static void take_hunk_line(const char *line, struct hunk *hunk)
{
	if (*line != '+' && *line != '\\' && hunk->before)
		hunk->before--;
	if (*line != '-' && *line != '\\' && hunk->after)
		hunk->after--;
}

static int check(const char *patch, const char *text, bool *ret_found, struct uspl_err *err)
{
	struct hunk hunk = { 0, 0 };
	bool found = false;

	while (*text) {
		if (hunk.before || hunk.after) {
			take_hunk_line(text, &hunk);
		} else if (parse_hunk(text, &hunk)) {
			found = true;
		} else {
			int rc = check_line(patch, text, err);

			if (rc)
				return rc;
			found |= starts_with(text, "rename from ");
		}
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	*ret_found = found;
	return 0;
}

int patch_read(const char *path, struct buf *buf, struct uspl_err *err)
{
	bool stdin_wanted = !strcmp(path, "-");
	const char *name = stdin_wanted ? "standard input" : path;
	size_t start = buf->len;
	bool found;
	int rc = stdin_wanted ? file_read_fd(STDIN_FILENO, name, buf, err)
			      : file_read(path, buf, err);

	if (rc)
		return rc;
	if (memchr(buf_str(buf) + start, '\0', buf->len - start))
		return uspl_fail(err, USPL_E_FILE, "'%s' is not a text file", name);
	rc = check(name, buf_str(buf) + start, &found, err);
	if (rc)
		return rc;
	if (!found) {
		uspl_fail(err, USPL_E_FILE, "'%s' holds no diff", name);
		uspl_hint(err, "it must be a unified diff, as 'diff -u' and 'git diff' write it");
		return -USPL_E_FILE;
	}
	if (buf->data[buf->len - 1] != '\n')
		buf_addstr(buf, "\n");
	return buf->oom ? uspl_fail_nomem(err) : 0;
}

/* ---- patch(1) ---- */

static bool sets_strip(const char *option)
{
	return starts_with(option, "-p") || starts_with(option, "--strip");
}

static void become_patch(const char *tree, const char *path, const char *option, bool dry_run,
			 int out)
{
	const char *argv[16] = { "patch", "-u", "-t", "-N", "--no-backup-if-mismatch", "-r", "-",
				 "-d",    tree, "-i", path };
	size_t n = 11;

	if (!option || !sets_strip(option))
		argv[n++] = "-p1";
	if (option)
		argv[n++] = option;
	if (dry_run)
		argv[n++] = "--dry-run";
	setenv("LC_ALL", "C", 1);
	unsetenv("POSIXLY_CORRECT");
	if (dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0)
		execvp("patch", (char **)argv);
	_exit(127);
}

static int run_patch(const char *tree, const char *path, const char *option, bool dry_run,
		     struct buf *out, struct uspl_err *err)
{
	int ends[2], status, rc;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return uspl_fail_errno(err, "cannot make a pipe");
	pid = fork();
	if (pid == 0)
		become_patch(tree, path, option, dry_run, ends[1]);
	close(ends[1]);
	rc = pid < 0 ? uspl_fail_errno(err, "cannot start 'patch'")
		     : file_read_fd(ends[0], "the output of patch", out, err);
	close(ends[0]);
	if (pid < 0)
		return rc;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return uspl_fail_errno(err, "cannot wait for 'patch'");
	if (rc)
		return rc;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* What in patch's output says why it failed. */
static const char *const reasons[] = {
	"FAILED",   "can't find file", "Reversed (or previously applied)",
	"****",     "already exists",  "not supported",
	"Refusing", "dangerous",
};

static bool is_reason(const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (strstr(line, reasons[i]))
			return true;
	return false;
}

/* Our messages have no full stop, patch's do. */
static size_t reason_len(const char *reason)
{
	size_t len = strlen(reason);

	return len && reason[len - 1] == '.' ? len - 1 : len;
}

/* Goes through the output line by line: the last file named, the first reason after it. */
static int explain(char *out, const char *name, struct uspl_err *err)
{
	const char *file = NULL, *reason = NULL;
	char *state = NULL;

	for (char *line = strtok_r(out, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		bool named =
			starts_with(line, "checking file ") || starts_with(line, "patching file ");

		if (!reason && named)
			file = line + strlen("checking file ");
		else if (!reason && is_reason(line))
			reason = starts_with(line, "patch: **** ") ? line + 12 : line;
		else if (reason && strstr(reason, "can't find file") && starts_with(line, "|+++ "))
			file = line + 5;
	}
	if (!reason)
		reason = "patch gives no reason";
	uspl_fail(err, USPL_E_BUILD, "'%s' doesn't apply: %s%s%.*s", name, file ? file : "",
		  file ? ": " : "", (int)reason_len(reason), reason);
	uspl_hint(err, "is it a diff of this very source? --patch-opt=-pN tells how many leading "
		       "folders to take off its names, --source=FOLDER where they start");
	return -USPL_E_BUILD;
}

int patch_apply(const char *tree, const struct patch_file *patch, const char *option, bool dry_run,
		struct uspl_err *err)
{
	auto_buf struct buf out = { 0 };
	int status = run_patch(tree, patch->path, option, dry_run, &out, err);

	if (status <= 0)
		return status;
	if (status == 127) {
		uspl_fail(err, USPL_E_BUILD, "cannot run 'patch'");
		uspl_hint(err, "install the package 'patch'");
		return -USPL_E_BUILD;
	}
	buf_addstr(&out, "\n");
	return out.oom ? uspl_fail_nomem(err) : explain(out.data, patch->name, err);
}
