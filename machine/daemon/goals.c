// SPDX-License-Identifier: GPL-3.0-or-later
// goals.c - what tells that an enabled update may be for a process

#include "machine/daemon/goals.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/note.h"
#include "base/strvec.h"
#include "machine/superseded.h"
#include "machine/updates.h"

/* So many programs are remembered, meant or not; then all are forgotten. */
#define FILES_MAX 4096
#define DELETED " (deleted)"
/* What the kernel keeps of a program's name (TASK_COMM_LEN, with its NUL). */
#define COMM_LEN 15

/* The names that are passed through the pipe: a letter, the name, and NUL. */
enum {
	PROGRAM = 'P',
	LIBRARY = 'L',
	BUILD_ID = 'B',
	UPDATE = 'U',
	OF_PACKAGE = 'K',
	SUPERSEDED = 'S',
};

static void put(struct buf *out, char kind, const char *name)
{
	if (!name || !*name)
		return;
	buf_addf(out, "%c%s", kind, name);
	buf_addzero(out, 1);
}

/* *ret: the package that is installed has its fix, and so it isn't wanted any more. */
static int list_superseded(const wanted_vec *wanted, const struct update *update,
			   const dpkg_packages *installed, struct buf *out, bool *ret,
			   struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	const char *version = NULL;
	int rc = 0;

	*ret = false;
	if (!update->upgrade.source || wanted_find(wanted, update->id)->keep)
		return 0;
	put(out, OF_PACKAGE, update->id);
	rc = superseded_by(update, installed, &version, err);
	if (rc || !version)
		return rc;
	*ret = true;
	buf_addf(&text, "%s %s %s", update->id, update->upgrade.source, version);
	put(out, SUPERSEDED, buf_str(&text));
	return text.oom ? uspl_fail_nomem(err) : 0;
}

/* In the child. */
static int list_goals(const wanted_vec *wanted, struct buf *out, struct uspl_err *err)
{
	auto_updates update_vec updates = { 0 };
	auto_vec update_paths paths = { 0 };
	auto_dpkg dpkg_packages installed = { 0 };
	bool is_superseded, of_packages = false;
	struct update *const *update;
	int rc = updates_wanted(wanted, NULL, "uspl-watch", &paths, &updates, err);

	if (rc)
		return rc;
	vec_for_each (&updates, update)
		of_packages |= (*update)->upgrade.source != NULL;
	rc = of_packages ? superseded_read_installed(&installed, err) : 0;
	if (rc)
		return rc;
	vec_for_each (&updates, update) {
		const struct update_target *target;
		char *const *id;

		rc = list_superseded(wanted, *update, &installed, out, &is_superseded, err);
		if (rc)
			return rc;
		if (is_superseded)
			continue;
		put(out, UPDATE, (*update)->id);
		vec_for_each (&(*update)->targets, target) {
			bool is_library = update_target_is_library(target);

			put(out, is_library ? LIBRARY : PROGRAM, target->name);
			put(out, LIBRARY, target->soname);
			vec_for_each (&target->build_ids, id)
				put(out, BUILD_ID, *id);
		}
	}
	return out->oom ? uspl_fail_nomem(err) : 0;
}

static int take_names(struct goals *goals, const char *text, size_t len, struct uspl_err *err)
{
	const char *end = text + len;

	while (text < end) {
		strvec *names = *text == PROGRAM      ? &goals->programs
				: *text == LIBRARY    ? &goals->libraries
				: *text == SUPERSEDED ? &goals->superseded
						      : &goals->build_ids;
		if (*text == UPDATE) {
			goals->n_updates++;
		} else if (*text == OF_PACKAGE) {
			goals->of_packages = true;
		} else if (!strvec_add(names, text + 1)) {
			return uspl_fail_nomem(err);
		}
		text += strlen(text) + 1;
	}
	return 0;
}

int goals_read(struct goals *ret, struct uspl_err *err)
{
	auto_wanted wanted_vec wanted = { 0 };
	auto_buf struct buf text = { 0 };
	struct uspl_err why = { 0 };
	auto_close int from = -1;
	int ends[2], status, rc = wanted_read(&wanted, err);
	pid_t child;

	if (rc || !wanted.n)
		return rc;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return uspl_fail_errno(err, "cannot make a pipe");
	from = ends[0];
	child = fork();
	if (!child) {
		if (list_goals(&wanted, &text, &why) != 0)
			uspl_err_print(stderr, "uspl-watch", &why);
		else if (file_write_all(ends[1], buf_str(&text), text.len) == 0)
			_exit(USPL_STATUS_DONE);
		_exit(USPL_STATUS_FAILED);
	}
	close(ends[1]);
	if (child < 0)
		return uspl_fail_errno(err, "cannot make a process");
	rc = file_read_fd(from, "the enabled updates", &text, err);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (rc)
		return rc;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != USPL_STATUS_DONE)
		return uspl_fail(err, USPL_E_SYSTEM, "the enabled updates cannot be read");
	return take_names(ret, buf_str(&text), text.len, err);
}

void goals_release(struct goals *goals)
{
	strvec_release(&goals->programs);
	strvec_release(&goals->build_ids);
	strvec_release(&goals->libraries);
	strvec_release(&goals->superseded);
	strmap_release(&goals->files);
	*goals = (struct goals){ 0 };
}

static bool has_name(const strvec *names, const char *word, size_t len)
{
	char *const *name;

	vec_for_each (names, name)
		if (strlen(*name) == len && !memcmp(*name, word, len))
			return true;
	return false;
}

/*
 * True if a process or another machine serves the file system, and may never answer. The server
 * isn't asked: the kernel has the list of mounts.
 */
static bool is_served(pid_t pid, const struct statx *st)
{
	static const char *const types[] = { "fuse", "nfs", "cifs", "smb", "ceph", "afs", "9p" };
	auto_fclose FILE *mounts = NULL;
	auto_free char *line = NULL;
	char path[64], device[32];
	size_t cap = 0;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	snprintf(device, sizeof(device), " %u:%u ", st->stx_dev_major, st->stx_dev_minor);
	mounts = fopen(path, "re");
	if (!mounts)
		return true;
	while (getline(&line, &cap, mounts) > 0) {
		const char *type = strstr(line, " - ");

		if (!type || !strstr(line, device))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(types); i++)
			if (!strncmp(type + 3, types[i], strlen(types[i])))
				return true;
		return false;
	}
	return false;
}

/* What is known of a program's file; the addresses are the values of goals.files. */
static char file_meant, file_other, file_ruled_out;

#define FILE_KEY 96

/* A file that has changed is another one. */
static void name_file(const struct statx *st, char key[FILE_KEY])
{
	snprintf(key, FILE_KEY, "%u:%u:%" PRIu64 ":%" PRId64 ".%u", st->stx_dev_major,
		 st->stx_dev_minor, (uint64_t)st->stx_ino, (int64_t)st->stx_ctime.tv_sec,
		 st->stx_ctime.tv_nsec);
}

/* What isn't remembered is found out again. */
static void remember(struct goals *goals, const char *key, void *value)
{
	if (goals->files.n >= FILES_MAX || !strmap_set(&goals->files, key, value))
		strmap_release(&goals->files);
}

/* The file by its build-id, which is read once. */
static bool program_has_id(struct goals *goals, pid_t pid, const char *path, const char *key,
			   const struct statx *st)
{
	void *known = strmap_get(&goals->files, key);
	auto_free char *id = NULL;
	auto_close int fd = -1;

	if (!known) {
		if (!is_served(pid, st))
			fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0)
			id = note_read_build_id(fd);
		known = id && has_name(&goals->build_ids, id, strlen(id)) ? &file_meant
									  : &file_other;
		remember(goals, key, known);
	}
	return known == &file_meant;
}

/* The beginning of a file, as a string; false if there is none. */
static bool read_start(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	auto_close int fd = -1;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, size - 1);
	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

/* By the name that it was executed by, of which the kernel keeps the beginning. */
static bool program_has_comm(const struct goals *goals, pid_t pid)
{
	char comm[COMM_LEN + 2];
	char *const *name;

	if (!read_start(pid, "comm", comm, sizeof(comm)))
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	vec_for_each (&goals->programs, name)
		if (!strncmp(*name, comm, COMM_LEN) && strnlen(*name, COMM_LEN) == strlen(comm))
			return true;
	return false;
}

/* By its file's name, or its argv[0], which it may have changed since. */
static bool program_has_name(const struct goals *goals, pid_t pid, const char *exe)
{
	const char *base = file_basename(exe), *deleted = strstr(base, DELETED);
	char text[PATH_MAX];

	if (has_name(&goals->programs, base, deleted ? (size_t)(deleted - base) : strlen(base)))
		return true;
	if (!read_start(pid, "cmdline", text, sizeof(text)))
		return false;
	base = file_basename(text);
	return has_name(&goals->programs, base, strcspn(base, " :"));
}

/* Asks no server of a file system. */
static bool identify(const char *path, struct statx *ret)
{
	return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO | STATX_CTIME, ret) == 0;
}

/* The program that the process runs; false if there is none any more. */
static bool identify_program(pid_t pid, struct statx *ret, char key[FILE_KEY])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (!identify(path, ret))
		return false;
	name_file(ret, key);
	return true;
}

static bool is_own_program(const struct statx *st)
{
	static struct statx own;

	return (own.stx_ino || identify("/proc/self/exe", &own)) &&
	       own.stx_dev_major == st->stx_dev_major && own.stx_dev_minor == st->stx_dev_minor &&
	       own.stx_ino == st->stx_ino;
}

enum goal goals_judge_exec(struct goals *goals, pid_t pid)
{
	char key[FILE_KEY];
	struct statx st;
	const void *known;

	if (!identify_program(pid, &st, key))
		return GOAL_GONE;
	known = strmap_get(&goals->files, key);
	if (!known)
		return goals_judge_program(goals, pid);
	return known == &file_meant || (known == &file_other && program_has_comm(goals, pid))
		       ? GOAL_PROGRAM
		       : GOAL_NONE;
}

enum goal goals_judge_program(struct goals *goals, pid_t pid)
{
	char path[64], exe[PATH_MAX], key[FILE_KEY];
	struct statx st;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	len = readlink(path, exe, sizeof(exe) - 1);
	if (len < 0 || !identify_program(pid, &st, key))
		return GOAL_GONE;
	exe[len] = '\0';
	if (is_own_program(&st))
		return GOAL_OURS;
	if (!goals->programs.n)
		return GOAL_NONE;
	if (strmap_get(&goals->files, key) == &file_ruled_out)
		return GOAL_NONE;
	return program_has_id(goals, pid, path, key, &st) || program_has_comm(goals, pid) ||
			       program_has_name(goals, pid, exe)
		       ? GOAL_PROGRAM
		       : GOAL_NONE;
}

/* A list of mappings that is read for the libraries that updates may be for. */
struct maps {
	FILE *file;
	char *line;
	size_t cap;
	pid_t pid;
	char key[FILE_KEY]; /* of the library's file; "" if there is none any more */
};

static void maps_close(struct maps *maps)
{
	if (maps->file)
		fclose(maps->file);
	free(maps->line);
}
DEFINE_AUTO_RELEASE(maps, struct maps, maps_close)
#define auto_maps __attribute__((cleanup(cleanup_maps_)))

static bool maps_open(struct maps *maps, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps->pid = pid;
	maps->file = fopen(path, "re");
	return maps->file != NULL;
}

/* The path of the next library with a name that is meant; NULL at the end. */
static const char *maps_next(struct maps *maps, const struct goals *goals)
{
	while (getline(&maps->line, &maps->cap, maps->file) > 0) {
		char *file = strchr(maps->line, '/'), *end;
		auto_buf struct buf path = { 0 };
		const char *base;
		struct statx st;

		if (!file)
			continue;
		file[strcspn(file, "\n")] = '\0';
		end = strstr(file, DELETED);
		if (end)
			*end = '\0';
		base = file_basename(file);
		if (!has_name(&goals->libraries, base, strlen(base)))
			continue;
		maps->key[0] = '\0';
		buf_addf(&path, "/proc/%d/root%s", maps->pid, file);
		if (!path.oom && identify(buf_str(&path), &st))
			name_file(&st, maps->key);
		return file;
	}
	return NULL;
}

void goals_rule_out(struct goals *goals, pid_t pid)
{
	bool by_program = goals_judge_program(goals, pid) == GOAL_PROGRAM;
	auto_maps struct maps maps = { 0 };
	char key[FILE_KEY];
	struct statx st;

	if (by_program && identify_program(pid, &st, key))
		remember(goals, key, &file_ruled_out);
	if (!goals->libraries.n || !maps_open(&maps, pid))
		return;
	while (maps_next(&maps, goals))
		if (maps.key[0])
			remember(goals, maps.key, &file_ruled_out);
}

enum goal goals_judge_process(struct goals *goals, pid_t pid, struct buf *ret_library)
{
	enum goal goal = goals_judge_program(goals, pid);
	auto_maps struct maps maps = { 0 };
	const char *file;

	if (goal != GOAL_NONE || !goals->libraries.n)
		return goal;
	if (!maps_open(&maps, pid))
		return GOAL_GONE;
	while ((file = maps_next(&maps, goals)))
		if (!maps.key[0] || strmap_get(&goals->files, maps.key) != &file_ruled_out) {
			buf_addstr(ret_library, file);
			return GOAL_LIBRARY;
		}
	return GOAL_NONE;
}
