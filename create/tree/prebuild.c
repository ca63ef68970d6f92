// SPDX-License-Identifier: GPL-3.0-or-later
// prebuild.c - the build before the patch, kept and used again
//
//     FOLDER/lock        held by the uspl-create that works here
//     FOLDER/state       what the kept build was made from; written when it is complete
//     FOLDER/work        the work folder, with the tree as the last uspl-create left it
//     FOLDER/work/base   the tree as the build before the patch left it
//
// A build made from the same files, by the same command, with the same compilers and environment,
// is the same build. Files are known by size and time, as make knows them. What the user's own
// builds leave in the tree doesn't count: programs, objects and archives, which are made anew
// anyway, and lists of dependencies.

#include "create/tree/prebuild.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/cli.h"
#include "base/compiler.h"
#include "base/file.h"
#include "base/strvec.h"
#include "base/text.h"
#include "create/tree/paths.h"
#include "create/tree/recipe.h"
#include "create/tree/tree.h"
#include "create/tree/tree_mirror.h"

/* ---- the state ---- */

/* What decides how compilers work, beside the tree. */
static const char *const variables[] = {
	"CC",     "CXX",     "LD",       "CFLAGS", "CXXFLAGS",
	"LDLIBS", "LDFLAGS", "CPPFLAGS", "CPATH",  "LIBRARY_PATH",
};
/* What PATH finds under these names counts, not PATH itself: each shell has its own. */
static const char *const compilers[] = {
	"cc", "gcc", "c++", "g++",  "clang", "clang++",    "x86_64-linux-gnu-gcc",
	"as", "ld",  "ar",  "make", "cmake", "pkg-config", "x86_64-linux-gnu-g++",
};

struct state {
	const struct build_paths *paths;
	const char *own; /* the folder that we work in: it may lie in the tree */
	strvec lines;
};

static int add_line(struct state *state, char *line, struct uspl_err *err)
{
	if (!strvec_take(&state->lines, line))
		return uspl_fail_nomem(err);
	for (; *line; line++)
		if (*line == '\n')
			*line = ' ';
	return 0;
}

/* A line is "WHAT\tVALUE". */
static int add_value(struct state *state, const char *what, const char *value, struct uspl_err *err)
{
	char *line = NULL;

	line = text_format("%s\t%s", what, value ? value : "-");
	return add_line(state, line, err);
}

static int add_file(struct state *state, const char *name, const struct stat *st,
		    struct uspl_err *err)
{
	char *line = NULL;

	line = text_format("%s\t%o %jd %jd.%09ld", name, st->st_mode, (intmax_t)st->st_size,
			   (intmax_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
	return add_line(state, line, err);
}

/* What Debian's rules, and dpkg-buildflags for them, may go by. */
static int add_deb_variables(struct state *state, struct uspl_err *err)
{
	static const char start[] = "DEB_";

	for (char **variable = environ; *variable; variable++) {
		auto_free char *name = strndup(*variable, strcspn(*variable, "="));
		int rc;

		if (!name)
			return uspl_fail_nomem(err);
		if (strncmp(name, start, strlen(start)) != 0)
			continue;
		rc = add_value(state, name, getenv(name), err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Behind a launcher in disguise (a link gcc to ccache) the next one of that name counts, too. */
static int add_compiler(struct state *state, const char *name, struct uspl_err *err)
{
	auto_free char *path = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	char *rest = NULL;
	int rc;

	if (!path)
		return uspl_fail_nomem(err);
	for (char *dir = strtok_r(path, ":", &rest); dir; dir = strtok_r(NULL, ":", &rest)) {
		auto_free char *file = file_join(dir, name);
		struct stat st;

		if (!file)
			return uspl_fail_nomem(err);
		if (stat(file, &st) < 0)
			continue;
		rc = add_file(state, file, &st, err);
		if (rc || !compiler_is_disguise(file))
			return rc;
	}
	return 0;
}

/* The first word, and where that is a launcher, the next one. */
static int add_words(struct state *state, const char *value, struct uspl_err *err)
{
	bool more = true;

	while (more && *(value += strspn(value, " \t"))) {
		auto_free char *word = strndup(value, strcspn(value, " \t"));
		int rc = 0;

		if (!word)
			return uspl_fail_nomem(err);
		if (!strchr(word, '/'))
			rc = add_compiler(state, word, err);
		if (rc)
			return rc;
		more = compiler_is_launcher(file_basename(word));
		value += strlen(word);
	}
	return 0;
}

static bool is_product(const char *path)
{
	static const char *const suffixes[] = { ".d", ".o", ".lo", ".la", ".P", ".log" };
	char head[8] = { 0 };
	auto_close int fd = -1;

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (text_ends_with(path, suffixes[i]))
			return true;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
	       (!memcmp(head, "\177ELF", 4) || !memcmp(head, "!<arch>\n", 8) ||
		!memcmp(head, "!<thin>\n", 8));
}

static int add_source(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	struct state *state = ctx;
	size_t own = strlen(state->own);

	if (!strncmp(path, state->own, own) && path[own] == '/')
		return 0;
	if (!tree_is_source(path) && is_product(path))
		return 0;
	return add_file(state, path + strlen(state->paths->source) + 1, st, err);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Notes what a build of the user's tree depends on, a sorted line for each thing. */
static int add_lines(struct state *state, const struct recipe *recipe, struct uspl_err *err)
{
	static const char *const named_by[] = { "CC", "CXX", "LD" };
	auto_free char *head = file_join(state->paths->source, ".git/logs/HEAD");
	struct stat st;
	int rc = add_value(state, "the version of uspl-create", USPL_VERSION, err);

	if (rc)
		return rc;
	rc = add_value(state, "the source folder",
		       state->paths->origin ? state->paths->origin : state->paths->source, err);
	if (rc)
		return rc;
	rc = add_value(state, "the command", recipe->build, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		rc = add_value(state, variables[i], getenv(variables[i]), err);
		if (rc)
			return rc;
	}
	rc = add_deb_variables(state, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(compilers); i++) {
		rc = add_compiler(state, compilers[i], err);
		if (rc)
			return rc;
	}
	/* Those that CC and its like name. */
	for (size_t i = 0; i < ARRAY_SIZE(named_by); i++) {
		const char *words = getenv(named_by[i]);

		rc = words ? add_words(state, words, err) : 0;
		if (rc)
			return rc;
	}
	/* A commit, or another branch: the version by git describe is another one. */
	if (!head)
		return uspl_fail_nomem(err);
	rc = stat(head, &st) < 0 ? 0 : add_file(state, ".git/HEAD", &st, err);
	if (rc)
		return rc;
	rc = tree_walk(state->paths->source, add_source, state, err);
	if (rc)
		return rc;
	qsort(state->lines.items, state->lines.n, sizeof(char *), compare_lines);
	return 0;
}

static int add_state(struct prebuild *prebuild, const struct build_paths *paths,
		     const struct recipe *recipe, struct uspl_err *err)
{
	struct state state = { .paths = paths, .own = prebuild->folder };
	char **line;
	int rc = add_lines(&state, recipe, err);

	vec_for_each (&state.lines, line)
		buf_addf(&prebuild->state, "%s\n", *line);
	strvec_release(&state.lines);
	return rc || !prebuild->state.oom ? rc : uspl_fail_nomem(err);
}

/* What the first line is about in which two states differ; NULL if they are equal. */
static char *first_difference(const char *was, const char *is)
{
	while (*was || *is) {
		size_t a = strcspn(was, "\n"), b = strcspn(is, "\n");

		if (a == b && !memcmp(was, is, a)) {
			was += a + 1;
			is += b + 1;
			continue;
		}
		/* The lines are sorted: the lesser one is missing on the other side. */
		if (!*is || (*was && strcmp(was, is) < 0))
			is = was;
		return strndup(is, strcspn(is, "\t\n"));
	}
	return NULL;
}

/* ---- the folder ---- */

static int lock(struct prebuild *prebuild, struct uspl_err *err)
{
	auto_free char *path = file_join(prebuild->folder, "lock");

	if (!path)
		return uspl_fail_nomem(err);
	/* rmdir succeeds on an empty folder only: one with other things in it is not ours. */
	if (access(path, F_OK) < 0 &&
	    (rmdir(prebuild->folder) < 0 || mkdir(prebuild->folder, 0777) < 0))
		return uspl_fail_errno(err, "cannot use the folder '%s'", prebuild->folder);
	prebuild->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (prebuild->lock < 0)
		return uspl_fail_errno(err, "cannot create '%s'", path);
	if (flock(prebuild->lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	return errno == EWOULDBLOCK
		       ? uspl_fail(err, USPL_E_FILE, "another uspl-create works in the folder '%s'",
				   prebuild->folder)
		       : uspl_fail_errno(err, "cannot lock '%s'", path);
}

int prebuild_open(const char *folder, struct prebuild *ret, struct uspl_err *err)
{
	struct prebuild prebuild = { .lock = -1 };
	int rc = file_mkdirs(folder, err);

	if (rc)
		return rc;
	prebuild.folder = realpath(folder, NULL);
	if (!prebuild.folder)
		return uspl_fail_errno(err, "cannot find '%s'", folder);
	rc = paths_check_folder(prebuild.folder, err);
	if (!rc)
		rc = lock(&prebuild, err);
	if (rc) {
		prebuild_close(&prebuild);
		return rc;
	}
	*ret = prebuild;
	return 0;
}

void prebuild_close(struct prebuild *prebuild)
{
	if (prebuild->folder && prebuild->lock >= 0)
		close(prebuild->lock);
	buf_release(&prebuild->state);
	free(prebuild->folder);
	*prebuild = (struct prebuild){ .lock = -1 };
}

static int join(const struct build_paths *paths, const char *name, char **ret, struct uspl_err *err)
{
	*ret = file_join(paths->work, name);
	return *ret ? 0 : uspl_fail_nomem(err);
}

/* Takes away what the last uspl-create left of its second build. */
static int restore(const struct build_paths *paths, struct uspl_err *err)
{
	static const char *const second[] = { "objects/post", "before", "record-post",
					      "build-post.log", "late" };
	auto_free char *base = NULL;
	int rc = join(paths, "base", &base, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(second); i++) {
		auto_free char *path = NULL;

		rc = join(paths, second[i], &path, err);
		if (rc)
			return rc;
		rc = file_remove_tree(path, err);
		if (rc)
			return rc;
	}
	return tree_mirror(base, paths->tree, err);
}

int prebuild_use(struct prebuild *prebuild, const struct build_paths *paths,
		 const struct recipe *recipe, char **ret_why_not, struct uspl_err *err)
{
	auto_free char *path = file_join(prebuild->folder, "state");
	auto_buf struct buf was = { 0 };
	auto_free char *difference = NULL;
	int rc = path ? add_state(prebuild, paths, recipe, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	if (access(path, F_OK) == 0) {
		rc = file_read(path, &was, err);
		if (rc)
			return rc;
	}
	difference = first_difference(buf_str(&was), buf_str(&prebuild->state));
	prebuild->usable = was.len && !difference;
	if (prebuild->usable)
		return restore(paths, err);
	if (was.len)
		*ret_why_not = take_ptr(difference);
	rc = file_remove_tree(path, err);
	if (rc)
		return rc;
	rc = file_remove_tree(paths->work, err);
	if (rc)
		return rc;
	return file_mkdirs(paths->work, err);
}

int prebuild_save(const struct prebuild *prebuild, const struct build_paths *paths,
		  struct uspl_err *err)
{
	auto_free char *path = file_join(prebuild->folder, "state");
	auto_free char *base = NULL;
	int rc = path ? join(paths, "base", &base, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	rc = tree_mirror(paths->tree, base, err);
	if (rc)
		return rc;
	return file_write(path, buf_str(&prebuild->state), prebuild->state.len, err);
}
