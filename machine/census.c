// SPDX-License-Identifier: GPL-3.0-or-later
// census.c - all processes as /proc lists them, and which of them a selection means
/*
 * What is read lies in /proc/PID: stat and status, which all users may read, cgroup, and the link
 * exe, which takes the right to trace the process. Nothing of it is taken for more than a hint:
 * what a process is, is found out again by the command that works on it.
 */

#include "machine/census.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "machine/service.h"
#include "proc/proc_status.h"

/* Linux include/linux/sched.h PF_KTHREAD, in field 9 of /proc/PID/stat. */
#define KERNEL_THREAD 0x00200000u
#define DELETED " (deleted)"

static bool read_file(pid_t pid, const char *name, struct buf *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return file_read(path, text, NULL) == 0;
}

/* The name in field 2 may hold anything, so count from its last ')' (proc_pid_stat(5)). */
int census_read(pid_t pid, struct census_process *ret, bool *ret_kernel, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	unsigned int flags;
	const char *rest;
	int parent;

	if (!read_file(pid, "stat", &text))
		return uspl_fail(err, USPL_E_NO_PROCESS, "there is no process with pid %d", pid);
	rest = strrchr(buf_str(&text), ')');
	if (!rest || sscanf(rest + 1,
			    " %*c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			    "%*d %*d %" SCNu64,
			    &parent, &flags, &ret->starttime) != 3)
		return uspl_fail(err, USPL_E_SYSTEM, "cannot understand '/proc/%d/stat'", pid);
	ret->pid = pid;
	ret->parent = (pid_t)parent;
	*ret_kernel = flags & KERNEL_THREAD;
	return 0;
}

/* One that is gone, or a thread of the kernel's, is left out. */
static int add_process(pid_t pid, census_vec *ret, struct uspl_err *err)
{
	struct census_process process, *item;
	bool is_kernel;

	if (census_read(pid, &process, &is_kernel, NULL) != 0 || is_kernel)
		return 0;
	item = vec_push(ret);
	if (!item)
		return uspl_fail_nomem(err);
	*item = process;
	return 0;
}

int census_all(census_vec *ret, struct uspl_err *err)
{
	auto_closedir DIR *dir = opendir("/proc");
	struct dirent *entry;

	if (!dir)
		return uspl_fail_errno(err, "cannot open '/proc'");
	while ((entry = readdir(dir))) {
		pid_t pid;
		int rc = cli_pid(entry->d_name, &pid, NULL);

		rc = rc ? 0 : add_process(pid, ret, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Its program, as another thread has it if the main one has exited. False if none is known. */
static bool find_exe(pid_t pid, struct stat *ret_st, char *ret_path, size_t size)
{
	auto_closedir DIR *dir = NULL;
	struct dirent *entry;
	char name[64], path[sizeof(name) + sizeof(entry->d_name) + 8];
	ssize_t len;

	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (stat(path, ret_st) < 0) {
		dir = opendir(name);
		while (dir && (entry = readdir(dir))) {
			snprintf(path, sizeof(path), "%s/%s/exe", name, entry->d_name);
			if (entry->d_name[0] != '.' && stat(path, ret_st) == 0)
				break;
			path[0] = '\0';
		}
	}
	len = path[0] ? readlink(path, ret_path, size - 1) : -1;
	if (len < 0)
		return false;
	ret_path[len] = '\0';
	return true;
}

bool census_has_our_root(pid_t pid)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/.", pid);
	return stat("/", &own) == 0 && stat(path, &other) == 0 && own.st_dev == other.st_dev &&
	       own.st_ino == other.st_ino;
}

/* Reads which mount namespace it is in. */
static bool find_mounts(const char *pid, struct stat *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
	return stat(path, ret) == 0;
}

bool census_had_our_root(pid_t pid)
{
	struct census_process process = { .pid = pid };
	struct stat own, first, other;
	char name[16];
	bool kernel;

	if (census_has_our_root(pid))
		return true;
	snprintf(name, sizeof(name), "%d", pid);
	if (!find_mounts("self", &own) || !find_mounts(name, &first))
		return false;
	if (own.st_dev == first.st_dev && own.st_ino == first.st_ino)
		return true;
	while (census_read(process.pid, &process, &kernel, NULL) == 0 && process.parent > 1) {
		snprintf(name, sizeof(name), "%d", process.parent);
		if (!find_mounts(name, &other) || other.st_dev != first.st_dev ||
		    other.st_ino != first.st_ino)
			return false;
		if (census_has_our_root(process.parent))
			return true;
		process.pid = process.parent;
	}
	return false;
}

/* The file itself, or one of that path that was there before: a package's upgrade replaces it. */
static bool runs(pid_t pid, const struct selection_exe *exe, const struct stat *st,
		 const char *link)
{
	size_t len = strlen(exe->path);

	if (exe->inode && st->st_dev == exe->dev && st->st_ino == exe->inode)
		return true;
	return !strncmp(link, exe->path, len) && !strcmp(link + len, DELETED) &&
	       census_has_our_root(pid);
}

/* What all processes are held against. */
struct question {
	const struct selection *sel;
	struct stat own; /* the file of this program */
	bool has_own;
	size_t hidden;
};

/* True unless this program runs there, or none that is asked for. */
static bool fits_exe(struct question *question, pid_t pid)
{
	const struct selection_exe *exe;
	char link[4096];
	struct stat st;

	if (!find_exe(pid, &st, link, sizeof(link))) {
		question->hidden += question->sel->files.n > 0;
		return !question->sel->files.n;
	}
	if (question->has_own && st.st_dev == question->own.st_dev &&
	    st.st_ino == question->own.st_ino)
		return false;
	vec_for_each (&question->sel->files, exe)
		if (runs(pid, exe, &st, link))
			return true;
	return !question->sel->files.n;
}

static bool fits_unit(const struct selection *sel, pid_t pid)
{
	auto_buf struct buf text = { 0 };
	const char **unit;

	if (!sel->units.n)
		return true;
	if (!read_file(pid, "cgroup", &text))
		return false;
	vec_for_each (&sel->units, unit)
		if (service_has(buf_str(&text), *unit, geteuid() == 0))
			return true;
	return false;
}

static bool fits_user(const struct selection *sel, pid_t pid)
{
	auto_buf struct buf text = { 0 };
	struct proc_status status;
	const uid_t *uid;

	if (!sel->uids.n)
		return true;
	if (!read_file(pid, "status", &text))
		return false;
	proc_status_parse(buf_str(&text), &status);
	vec_for_each (&sel->uids, uid)
		if (*uid == status.uid)
			return true;
	return false;
}

static int by_pid(const void *a, const void *b)
{
	const struct census_process *one = a, *other = b;

	return one->pid < other->pid ? -1 : one->pid > other->pid;
}

/* Up to a root. The list is of many moments, so that there may be a circle in it. */
static bool fits_tree(const struct selection *sel, const census_vec *all,
		      const struct census_process *process)
{
	const struct selection_root *root;
	size_t at;

	if (!sel->trees.n)
		return true;
	for (size_t steps = 0; process && steps <= all->n; steps++) {
		vec_for_each (&sel->roots, root)
			if (root->pid == process->pid && root->starttime == process->starttime)
				return true;
		at = vec_lower_bound(all, it, it->pid < process->parent);
		process = at < all->n && all->items[at].pid == process->parent ? &all->items[at]
									       : NULL;
	}
	return false;
}

static bool is_meant(struct question *question, const census_vec *all,
		     const struct census_process *process)
{
	const struct selection *sel = question->sel;
	bool named = !sel->only.n;
	const pid_t *only;

	vec_for_each (&sel->only, only)
		named |= *only == process->pid;
	return process->pid != getpid() && named && fits_tree(sel, all, process) &&
	       fits_user(sel, process->pid) && fits_unit(sel, process->pid) &&
	       fits_exe(question, process->pid);
}

int census_take(const struct selection *sel, census_vec *ret, size_t *ret_hidden,
		struct uspl_err *err)
{
	struct question question = { .sel = sel };
	auto_vec census_vec all = { 0 };
	const struct census_process *process;
	int rc = 0;

	/* Where only some pids can be meant, the others are looked at as their parents at most. */
	if (!sel->only.n || sel->trees.n)
		rc = census_all(&all, err);
	else
		for (size_t i = 0; i < sel->only.n && !rc; i++)
			rc = add_process(sel->only.items[i], &all, err);
	if (rc)
		return rc;
	if (all.n)
		qsort(all.items, all.n, sizeof(*all.items), by_pid);
	question.has_own = stat("/proc/self/exe", &question.own) == 0;
	vec_for_each (&all, process) {
		struct census_process *item;

		if (!is_meant(&question, &all, process))
			continue;
		item = vec_push(ret);
		if (!item)
			return uspl_fail_nomem(err);
		*item = *process;
	}
	*ret_hidden = question.hidden;
	return 0;
}
