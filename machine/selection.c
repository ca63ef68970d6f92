// SPDX-License-Identifier: GPL-3.0-or-later
// selection.c - the processes that a command line means

#include "machine/selection.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "machine/census.h"

/* Each pid once. */
static int add_pid(pid_vec *pids, pid_t pid, struct uspl_err *err)
{
	const pid_t *item;

	vec_for_each (pids, item)
		if (*item == pid)
			return 0;
	return cli_add_pid(pids, pid, err);
}

/* It begins with a pid; the rest, as PostgreSQL's has it, is passed over. */
static int read_pid_file(struct selection *sel, const char *path, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	auto_free char *word = NULL;
	pid_t pid;
	int rc = file_read(path, &text, err);

	if (rc)
		return rc;
	word = strndup(buf_str(&text), strcspn(buf_str(&text), " \t\r\n"));
	if (!word)
		return uspl_fail_nomem(err);
	if (cli_pid(word, &pid, NULL) != 0) {
		uspl_fail(err, USPL_E_FILE, "'%s' does not begin with a pid", path);
		return -USPL_E_FILE;
	}
	return add_pid(&sel->named, pid, err);
}

/* The file may be gone while processes run it: then its path counts. */
static int read_exe(struct selection *sel, const char *path, struct uspl_err *err)
{
	struct selection_exe *exe = vec_push(&sel->files);
	struct stat st;

	if (!exe)
		return uspl_fail_nomem(err);
	exe->path = realpath(path, NULL);
	if (!exe->path)
		exe->path = strdup(path);
	if (!exe->path)
		return uspl_fail_nomem(err);
	if (stat(exe->path, &st) < 0)
		return 0;
	exe->dev = st.st_dev;
	exe->inode = st.st_ino;
	return 0;
}

static int read_root(struct selection *sel, const char *word, struct uspl_err *err)
{
	struct selection_root *root;
	struct census_process process;
	bool is_kernel;
	pid_t pid;
	int rc = cli_pid(word, &pid, err);

	if (rc)
		return rc;
	rc = census_read(pid, &process, &is_kernel, err);
	if (rc)
		return rc;
	root = vec_push(&sel->roots);
	if (!root)
		return uspl_fail_nomem(err);
	*root = (struct selection_root){ pid, process.starttime };
	return 0;
}

/* Asks no service, which might wait for others. */
static bool find_user(const char *name, uid_t *ret)
{
	auto_fclose FILE *file = fopen("/etc/passwd", "re");
	struct passwd user, *found = NULL;
	char line[1024];

	while (file && fgetpwent_r(file, &user, line, sizeof(line), &found) == 0)
		if (!strcmp(user.pw_name, name)) {
			*ret = user.pw_uid;
			return true;
		}
	return false;
}

static bool is_number(const char *text, uid_t *ret)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || value >= UINT_MAX)
		return false;
	*ret = (uid_t)value;
	return true;
}

static int read_user(struct selection *sel, const char *name, struct uspl_err *err)
{
	uid_t *uid = vec_push(&sel->uids);

	if (!uid)
		return uspl_fail_nomem(err);
	if (is_number(name, uid) || find_user(name, uid))
		return 0;
	uspl_fail(err, USPL_E_SYSTEM, "there is no user '%s' in '/etc/passwd'", name);
	uspl_hint(err, "a user from elsewhere goes by number, see 'id -u NAME'");
	return -USPL_E_SYSTEM;
}

static int read_only(struct selection *sel, const char *word, struct uspl_err *err)
{
	pid_t pid;
	int rc = cli_pid(word, &pid, err);

	return rc ? rc : add_pid(&sel->only, pid, err);
}

static int read_each(struct selection *sel, const cli_strings *words,
		     int (*read)(struct selection *sel, const char *word, struct uspl_err *err),
		     struct uspl_err *err)
{
	const char **word;

	vec_for_each (words, word) {
		int rc = 0;

		if (!**word)
			rc = uspl_fail(err, USPL_E_USAGE, "an option's argument is empty");
		else if (read)
			rc = read(sel, *word, err);

		if (rc)
			return rc;
	}
	return 0;
}

int selection_read(struct selection *sel, char **words, int n, struct uspl_err *err)
{
	const struct {
		const cli_strings *words;
		int (*read)(struct selection *sel, const char *word, struct uspl_err *err);
	} sorts[] = {
		{ &sel->pid_files, read_pid_file },
		{ &sel->exes, read_exe },
		{ &sel->trees, read_root },
		{ &sel->users, read_user },
		{ &sel->pids, read_only },
		{ &sel->units, NULL }, /* the processes tell what belongs to one */
	};
	int rc;

	for (int i = 0; i < n; i++) {
		pid_t pid;

		rc = cli_pid(words[i], &pid, err);
		if (rc && *err->hint) {
			char pids[sizeof(err->hint)];

			memcpy(pids, err->hint, sizeof(pids));
			uspl_hint(err, "%s; programs are selected by --exe=PATH, --unit=NAME",
				  pids);
		}
		if (rc)
			return rc;
		rc = add_pid(&sel->named, pid, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < ARRAY_SIZE(sorts); i++) {
		rc = read_each(sel, sorts[i].words, sorts[i].read, err);
		if (rc)
			return rc;
	}
	return 0;
}

bool selection_narrows(const struct selection *sel)
{
	return sel->exes.n || sel->units.n || sel->trees.n || sel->users.n || sel->only.n;
}

bool selection_selects(const struct selection *sel)
{
	return sel->all || selection_narrows(sel);
}

bool selection_is_many(const struct selection *sel)
{
	return selection_selects(sel) || sel->named.n != 1;
}

bool selection_is_empty(const struct selection *sel)
{
	return !sel->named.n && !selection_selects(sel);
}

static void describe(const char *option, const cli_strings *words, struct buf *out)
{
	const char **word;

	vec_for_each (words, word)
		buf_addf(out, "%s--%s=%s", out->len ? " " : "", option, *word);
}

void selection_describe(const struct selection *sel, struct buf *out)
{
	describe("exe", &sel->exes, out);
	describe("unit", &sel->units, out);
	describe("tree", &sel->trees, out);
	describe("user", &sel->users, out);
	describe("only", &sel->pids, out);
	if (!out->len)
		buf_addstr(out, "--all");
}

void selection_release(struct selection *sel)
{
	struct selection_exe *exe;

	vec_for_each (&sel->files, exe)
		free(exe->path);
	vec_release(&sel->files);
	vec_release(&sel->roots);
	vec_release(&sel->uids);
	vec_release(&sel->named);
	vec_release(&sel->exes);
	vec_release(&sel->units);
	vec_release(&sel->trees);
	vec_release(&sel->users);
	vec_release(&sel->pids);
	vec_release(&sel->only);
	vec_release(&sel->pid_files);
}
