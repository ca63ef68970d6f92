// SPDX-License-Identifier: GPL-3.0-or-later
// tree.c - the private copy of the source

#include "create/tree/tree.h"

#include "base/strmap.h"
#include "base/strvec.h"
#include "base/text.h"
#include "create/tree/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"

static const char *const left_out[] = { ".git", ".hg", ".svn", ".bzr", "CVS" };

/* What C and C++ are written in. */
static const char *const c_suffixes[] = {
	"c", "h",  "cc",  "cp",  "cxx", "cpp", "c++", "C",
	"H", "hh", "hpp", "hxx", "inl", "ipp", "tcc",
};

/* Assembler, and what may be anything that is included. */
static const char *const other_suffixes[] = { "i", "ii", "inc", "s", "S", "sx", "m" };

static bool has_suffix(const char *name, const char *const *suffixes, size_t n)
{
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < n; i++)
		if (!strcmp(dot + 1, suffixes[i]))
			return true;
	return false;
}

bool tree_is_c(const char *name)
{
	return has_suffix(name, c_suffixes, ARRAY_SIZE(c_suffixes));
}

bool tree_is_source(const char *name)
{
	return tree_is_c(name) || has_suffix(name, other_suffixes, ARRAY_SIZE(other_suffixes));
}

/* True if a relative link in the folder `from` leads out of the tree. Looks at the text alone. */
static bool leads_out(const struct build_paths *paths, const char *from, const char *target)
{
	int depth = 0;

	for (const char *p = from + strlen(paths->source); *p; p++)
		depth += *p == '/';
	while (*target && depth >= 0) {
		size_t len = strcspn(target, "/");

		if (len == 2 && !strncmp(target, "..", 2))
			depth--;
		else if (len && !(len == 1 && *target == '.'))
			depth++;
		target += len + (target[len] == '/');
	}
	return depth < 0;
}

/*
 * A link keeps its text, unless it would lead into the user's tree, or out of the copy to a place
 * that isn't there.
 */
static int copy_link(const struct build_paths *paths, const char *folder, const char *from,
		     const char *to, struct uspl_err *err)
{
	size_t len = strlen(paths->source);
	auto_free char *changed = NULL;
	char target[PATH_MAX];
	ssize_t got = readlink(from, target, sizeof(target) - 1);

	if (got < 0)
		return uspl_fail_errno(err, "cannot read the link '%s'", from);
	target[got] = '\0';
	if (!strncmp(target, paths->source, len) && (target[len] == '/' || !target[len]))
		changed = text_format("%s%s", paths->tree, target + len);
	else if (target[0] == '/' || !leads_out(paths, folder, target))
		changed = strdup(target);
	else
		changed = file_join(folder, target);
	if (!changed)
		return uspl_fail_nomem(err);
	return symlink(changed, to) < 0 ? uspl_fail_errno(err, "cannot create '%s'", to) : 0;
}

static int copy_folder(const struct build_paths *paths, const char *from, const char *to,
		       struct uspl_err *err);

static int copy_entry(const struct build_paths *paths, const char *folder, const char *to_folder,
		      const char *name, struct uspl_err *err)
{
	auto_free char *from = file_join(folder, name);
	auto_free char *to = file_join(to_folder, name);
	struct timespec times[2];
	struct stat st;
	int rc;

	if (!from || !to)
		return uspl_fail_nomem(err);
	if (TEXT_IS_ONE_OF(name, left_out) || !strcmp(from, paths->work))
		return 0;
	if (lstat(from, &st) < 0)
		return uspl_fail_errno(err, "cannot read '%s'", from);
	if (S_ISDIR(st.st_mode))
		rc = copy_folder(paths, from, to, err);
	else if (S_ISREG(st.st_mode))
		rc = file_copy(from, to, err);
	else if (S_ISLNK(st.st_mode))
		rc = copy_link(paths, folder, from, to, err);
	else
		return 0;
	if (rc)
		return rc;
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	if (utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW) < 0)
		return uspl_fail_errno(err, "cannot set the time of '%s'", to);
	return 0;
}

static int copy_folder(const struct build_paths *paths, const char *from, const char *to,
		       struct uspl_err *err)
{
	auto_closedir DIR *dir = opendir(from);
	struct dirent *entry;
	struct stat st;

	if (!dir || fstat(dirfd(dir), &st) < 0)
		return uspl_fail_errno(err, "cannot read the folder '%s'", from);
	/* The owner's bits are always set: builds write, and the copy must be removable. */
	if (mkdir(to, (st.st_mode & 0777) | S_IRWXU) < 0)
		return uspl_fail_errno(err, "cannot create the folder '%s'", to);
	while ((errno = 0, entry = readdir(dir)) != NULL) {
		int rc;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		rc = copy_entry(paths, from, to, entry->d_name, err);
		if (rc)
			return rc;
	}
	return errno ? uspl_fail_errno(err, "cannot read the folder '%s'", from) : 0;
}

int tree_copy(const struct build_paths *paths, struct uspl_err *err)
{
	return copy_folder(paths, paths->source, paths->tree, err);
}

int tree_walk(const char *path, tree_visit visit, void *ctx, struct uspl_err *err)
{
	auto_closedir DIR *dir = opendir(path);
	struct dirent *entry;
	int rc = 0;

	if (!dir)
		return uspl_fail_errno(err, "cannot read the folder '%s'", path);
	while ((entry = readdir(dir)) != NULL) {
		auto_free char *file = file_join(path, entry->d_name);
		struct stat st;

		if (!file)
			return uspl_fail_nomem(err);
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    TEXT_IS_ONE_OF(entry->d_name, left_out) || lstat(file, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			rc = tree_walk(file, visit, ctx, err);
			if (rc)
				return rc;
		} else if (S_ISREG(st.st_mode)) {
			rc = visit(file, &st, ctx, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static int renew(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	const struct timespec *now = ctx;
	struct timespec times[2] = { *now, *now };

	(void)st;
	if (!tree_is_source(file_basename(path)))
		return 0;
	if (utimensat(AT_FDCWD, path, times, 0) < 0)
		return uspl_fail_errno(err, "cannot set the time of '%s'", path);
	return 0;
}

int tree_renew_sources(const char *tree, struct uspl_err *err)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return tree_walk(tree, renew, &now, err);
}

/* file_write makes a new file, and the build may want to run a source. */
int tree_rewrite(const char *path, const struct buf *text, struct uspl_err *err)
{
	struct stat st;
	int rc;

	if (stat(path, &st) < 0)
		return uspl_fail_errno(err, "cannot read '%s'", path);
	rc = file_write(path, buf_str(text), text->len, err);
	if (rc)
		return rc;
	if (chmod(path, st.st_mode & 07777) < 0)
		return uspl_fail_errno(err, "cannot set the mode of '%s'", path);
	return 0;
}

struct snapshot {
	const struct build_paths *paths;
	struct strmap *inodes, *originals;
};

/*
 * Inode numbers tell, since patch(1) writes a new file and renames it: times are too coarse right
 * after a build.
 */
static int note_inode(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	struct snapshot *snapshot = ctx;
	void *inode = (void *)(uintptr_t)st->st_ino;
	auto_free char *kept = NULL;

	if (!strmap_set(snapshot->inodes, path, inode))
		return uspl_fail_nomem(err);
	if (!tree_is_c(path) || strmap_get(snapshot->originals, path))
		return 0;
	if (!strmap_set(snapshot->originals, path, inode))
		return uspl_fail_nomem(err);
	/* A second name keeps what patch(1) replaces; where a file can't have one, a copy does. */
	kept = text_format("%s/before/%ju", snapshot->paths->work, (uintmax_t)st->st_ino);
	if (!kept)
		return uspl_fail_nomem(err);
	return link(path, kept) == 0 || errno == EEXIST ? 0 : file_copy(path, kept, err);
}

int tree_snapshot(const struct build_paths *paths, struct strmap *inodes, struct strmap *originals,
		  struct uspl_err *err)
{
	auto_free char *before = file_join(paths->work, "before");
	struct snapshot snapshot = { paths, inodes, originals };
	int rc = before ? file_mkdirs(before, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	return tree_walk(paths->tree, note_inode, &snapshot, err);
}

int tree_original(const struct build_paths *paths, const struct strmap *originals, const char *path,
		  struct buf *ret, struct uspl_err *err)
{
	auto_free char *kept = NULL;
	uintptr_t inode = (uintptr_t)strmap_get(originals, path);

	kept = text_format("%s/before/%ju", paths->work, (uintmax_t)inode);
	if (!kept)
		return uspl_fail_nomem(err);
	return inode ? file_read(kept, ret, err) : 0;
}

struct comparison {
	const struct strmap *inodes;
	strvec *files;
};

static int note_changed(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	struct comparison *comparison = ctx;

	if ((uintptr_t)strmap_get(comparison->inodes, path) == st->st_ino)
		return 0;
	return strvec_add(comparison->files, path) ? 0 : uspl_fail_nomem(err);
}

int tree_changed(const char *tree, const struct strmap *inodes, strvec *ret, struct uspl_err *err)
{
	struct comparison comparison = { inodes, ret };

	return tree_walk(tree, note_changed, &comparison, err);
}
