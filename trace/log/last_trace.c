// SPDX-License-Identifier: GPL-3.0-or-later
// last_trace.c - traces of processes that are over, as their keepers have saved them

#include "trace/log/last_trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "proc/proc_status.h"

#define SUFFIX ".trace"
/* How long a trace that is being written is waited for, and the pause between two looks. */
#define WRITE_NS 30000000000ll
#define WRITE_PAUSE_NS 5000000

struct entry {
	pid_t pid;
	uint64_t starttime;
	char *path;
	uint64_t size;
	int64_t changed_ns;
};

typedef VEC(struct entry) entry_vec;

static void entries_release(entry_vec *entries)
{
	struct entry *entry;

	vec_for_each (entries, entry)
		free(entry->path);
	vec_release(entries);
}

DEFINE_AUTO_RELEASE(entries, entry_vec, entries_release)
#define auto_entries __attribute__((cleanup(cleanup_entries_)))

static const char *folder(void)
{
	const char *set = secure_getenv("USPL_TRACES");

	return set && *set ? set : LAST_TRACES_DIR;
}

static bool path_of(const struct proc *proc, struct buf *path)
{
	buf_addf(path, "%s/%d-%llu" SUFFIX, folder(), proc->pid,
		 (unsigned long long)proc->starttime);
	return !path->oom;
}

static bool parse_name(const char *name, struct entry *ret)
{
	char *end;
	long pid = strtol(name, &end, 10);

	if (pid <= 0 || *end != '-')
		return false;
	ret->pid = (pid_t)pid;
	ret->starttime = strtoull(end + 1, &end, 10);
	return !strcmp(end, SUFFIX);
}

/* True while the process lives whose trace it is. */
static bool lives(const struct entry *entry)
{
	auto_buf struct buf text = { 0 };
	const char *state, *starttime;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", entry->pid);
	if (file_read(path, &text, NULL) != 0)
		return false;
	state = proc_stat_field(buf_str(&text), PROC_STAT_STATE);
	starttime = proc_stat_field(buf_str(&text), PROC_STAT_STARTTIME);
	return state && *state != 'Z' && *state != 'X' && starttime &&
	       strtoull(starttime, NULL, 10) == entry->starttime;
}

static int from_youngest(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->changed_ns > y->changed_ns ? -1 : x->changed_ns < y->changed_ns;
}

/* What another user may write to could lead anywhere, and keep its reader waiting. */
static bool is_own(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* All of them, from the youngest on. No folder is an empty one, and so is one of others. */
static int list(entry_vec *ret, struct uspl_err *err)
{
	auto_closedir DIR *dir = opendir(folder());
	const struct dirent *name;
	struct stat st;

	if (dir && !is_own(dirfd(dir))) {
		log_info("trace", "others than this user may write to '%s'", folder());
		return 0;
	}
	while (dir && (name = readdir(dir))) {
		struct entry found = { 0 }, *place;

		if (!parse_name(name->d_name, &found) ||
		    fstatat(dirfd(dir), name->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		found.path = file_join(folder(), name->d_name);
		found.size = (uint64_t)st.st_size;
		found.changed_ns = st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec;
		place = found.path ? vec_push(ret) : NULL;
		if (!place) {
			free(found.path);
			return uspl_fail_nomem(err);
		}
		*place = found;
	}
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), from_youngest);
	return 0;
}

/* Those of processes that live aren't written yet, and stay. */
static int prune(struct uspl_err *err)
{
	auto_entries entry_vec entries = { 0 };
	const struct entry *entry;
	struct timespec now;
	uint64_t n = 0, bytes = 0;
	int rc = list(&entries, err);

	if (rc)
		return rc;
	clock_gettime(CLOCK_REALTIME, &now);
	vec_for_each (&entries, entry) {
		int64_t age_s = now.tv_sec - entry->changed_ns / 1000000000;

		if (lives(entry))
			continue;
		n++;
		bytes += entry->size;
		if (n >= LAST_TRACES_MAX || bytes > LAST_TRACES_BYTES ||
		    age_s > LAST_TRACES_DAYS * 86400ll)
			unlink(entry->path);
	}
	return 0;
}

static int make_folder(struct uspl_err *err)
{
	auto_buf struct buf parent = { 0 };
	auto_close int fd = -1;
	const char *slash = strrchr(folder(), '/');
	int rc;

	if (slash && slash > folder()) {
		buf_add(&parent, folder(), (size_t)(slash - folder()));
		rc = file_mkdirs(buf_str(&parent), err);
		if (rc)
			return rc;
	}
	if (mkdir(folder(), 0700) < 0 && errno != EEXIST)
		return uspl_fail_errno(err, "cannot make the folder '%s'", folder());
	fd = open(folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return uspl_fail_errno(err, "cannot open the folder '%s'", folder());
	if (!is_own(fd))
		return uspl_fail(err, USPL_E_HOSTILE, "others than this user may write to '%s'",
				 folder());
	return 0;
}

int last_trace_create(const struct proc *proc, int *ret_fd, int *ret_watch, struct uspl_err *err)
{
	auto_buf struct buf path = { 0 };
	auto_close int fd = -1, watch = -1;
	int rc = make_folder(err);

	if (rc)
		return rc;
	rc = prune(err);
	if (rc)
		return rc;
	if (!path_of(proc, &path))
		return uspl_fail_nomem(err);
	unlink(path.data);
	fd = open(path.data, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return uspl_fail_errno(err, "cannot make '%s'", path.data);
	watch = inotify_init1(IN_CLOEXEC);
	if (watch < 0 || inotify_add_watch(watch, path.data, IN_ATTRIB | IN_DELETE_SELF) < 0) {
		rc = uspl_fail_errno(err, "cannot watch '%s'", path.data);
		unlink(path.data);
		return rc;
	}
	*ret_fd = fd;
	*ret_watch = watch;
	fd = watch = -1;
	return 0;
}

/* Waits until the keeper has let go of it. True if it is written then. */
static bool is_written(const char *path)
{
	const struct timespec pause = { 0, WRITE_PAUSE_NS };
	const int64_t deadline = clock_now_ns() + WRITE_NS;
	auto_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	while (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || clock_now_ns() >= deadline)
			return false;
		nanosleep(&pause, NULL);
	}
	return fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0;
}

int last_trace_find(pid_t pid, char **ret_path, struct uspl_err *err)
{
	auto_entries entry_vec entries = { 0 };
	const struct entry *entry;
	int rc = list(&entries, err);

	if (rc)
		return rc;
	vec_for_each (&entries, entry) {
		if (entry->pid != pid || lives(entry) || !is_written(entry->path))
			continue;
		*ret_path = strdup(entry->path);
		return *ret_path ? 0 : uspl_fail_nomem(err);
	}
	return -USPL_E_NOT_APPLIED;
}

bool last_trace_may_be(int rc)
{
	return rc == -USPL_E_NO_PROCESS || rc == -USPL_E_ZOMBIE || rc == -USPL_E_NOT_APPLIED ||
	       rc == -USPL_E_UNSUPPORTED;
}

void last_trace_forget(const struct proc *proc)
{
	auto_buf struct buf path = { 0 };

	if (path_of(proc, &path) && unlink(path.data) < 0 && errno != ENOENT)
		log_info("trace", "'%s' stays", path.data);
}

int last_traces_for_each(void (*fn)(void *ctx, const char *path), void *ctx, struct uspl_err *err)
{
	auto_entries entry_vec entries = { 0 };
	const struct entry *entry;
	int rc = list(&entries, err);

	if (rc)
		return rc;
	vec_for_each (&entries, entry)
		if (!lives(entry) && is_written(entry->path))
			fn(ctx, entry->path);
	return 0;
}
