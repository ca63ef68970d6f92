// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * reconfigure.c - a tree that autoconf has configured, configured anew after a patch
 *
 * What configure found out is in config.status and in what that has made. A patched configure.ac
 * has to go all the way from there to config.h and the makefiles, or half of the patch takes no
 * effect. The rules that automake writes for that do it, unless the tree was configured without
 * them (--disable-maintainer-mode), isn't automake's, or a clock tick hides that a file is newer.
 * So we do it: autoreconf makes configure and the templates of makefiles, `config.status --recheck`
 * runs configure with the options that it was given, config.status makes the rest.
 *
 * The same is done before the build before the patch: what configure says because of another
 * autoconf, or of a configure.ac that was changed after the tree was configured, is no part of the
 * patch.
 *
 * Sources that are changed in that way get compiled since flags_may_change() has everything
 * compiled. CMake, Meson and ninja look after themselves.
 */

#include "create/build/reconfigure.h"

#include <fnmatch.h>
#include <limits.h>
#include <string.h>

#include "base/file.h"
#include "base/strvec.h"
#include "base/text.h"
#include "create/tree/paths.h"
#include "create/tree/tree.h"

/* How much of what a configuration consists of a patch reaches. */
enum reach {
	REACHES_NOTHING,
	REACHES_OUTPUTS,   /* what config.status makes */
	REACHES_CONFIGURE, /* what configure finds out */
	REACHES_TEMPLATES, /* configure itself, or a template of a makefile */
};

/* A folder that configure was run in. */
struct place {
	char *build;  /* where config.status is */
	char *source; /* where configure is; of a foreign one the tree */
	enum reach reach;
	bool foreign; /* config.status isn't one that autoconf has made */
};

typedef VEC(struct place) place_list;

static void place_list_release(place_list *places)
{
	struct place *place;

	vec_for_each (places, place) {
		free(place->build);
		free(place->source);
	}
	vec_release(places);
}

DEFINE_AUTO_RELEASE(place_list, place_list, place_list_release)
#define auto_places __attribute__((cleanup(cleanup_place_list_)))

struct search {
	const char *tree;
	place_list *places;
};

static bool is_within(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return !strncmp(path, folder, len) && (!path[len] || path[len] == '/');
}

/* The folder of configure, as config.status has it; NULL if it isn't one that autoconf has made. */
static char *source_of(const char *status, const char *build)
{
	static const char key[] = "\nsrcdir='";
	auto_buf struct buf text = { 0 };
	auto_free char *name = NULL;
	auto_free char *path = NULL;
	const char *at;

	if (file_read(status, &text, NULL) < 0)
		return NULL;
	at = strstr(buf_str(&text), key);
	if (!at)
		return NULL;
	at += sizeof(key) - 1;
	name = strndup(at, strcspn(at, "'\n"));
	path = name && *name != '/' ? file_join(build, name) : take_ptr(name);
	return path ? realpath(path, NULL) : NULL;
}

static int note_place(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	struct search *search = ctx;
	auto_free char *build = NULL;
	auto_free char *source = NULL;
	struct place *place;

	(void)st;
	if (strcmp(file_basename(path), "config.status") != 0)
		return 0;
	build = strndup(path, (size_t)(file_basename(path) - path) - 1);
	source = build ? source_of(path, build) : NULL;
	place = vec_push(search->places);
	if (!build || !place)
		return uspl_fail_nomem(err);
	place->foreign = !source || !is_within(source, search->tree);
	place->source = place->foreign ? strdup(search->tree) : take_ptr(source);
	place->build = take_ptr(build);
	return place->source ? 0 : uspl_fail_nomem(err);
}

static enum reach reach_of(const char *path)
{
	static const struct {
		const char *pattern;
		enum reach reach;
	} files[] = {
		{ "configure", REACHES_CONFIGURE },    { "configure.ac", REACHES_TEMPLATES },
		{ "configure.in", REACHES_TEMPLATES }, { "*.m4", REACHES_TEMPLATES },
		{ "*.am", REACHES_TEMPLATES },         { "*.in", REACHES_OUTPUTS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!fnmatch(files[i].pattern, file_basename(path), 0))
			return files[i].reach;
	return REACHES_NOTHING;
}

static void note_reach(place_list *places, const char *file)
{
	enum reach reach = reach_of(file);
	struct place *place;
	size_t len = 0;

	if (reach == REACHES_NOTHING)
		return;
	/* The innermost folder with a configure around the file; there may be none. */
	vec_for_each (places, place)
		if (is_within(file, place->source) && strlen(place->source) > len)
			len = strlen(place->source);
	if (!len)
		return;
	vec_for_each (places, place)
		if (is_within(file, place->source) && strlen(place->source) == len &&
		    place->reach < reach)
			place->reach = reach;
}

static void add_change(struct buf *commands, const char *folder)
{
	buf_addstr(commands, "(cd ");
	buf_add_shell_word(commands, folder);
	buf_addstr(commands, "&& ");
}

/* All folders that configure was run in, with how much of them the patched files reach. */
static int find_places(const char *tree, const strvec *patched, place_list *ret,
		       struct uspl_err *err)
{
	struct search search = { tree, ret };
	const struct place *outer;
	struct place *inner;
	bool any = false;
	char **file;
	int rc;

	vec_for_each (patched, file)
		any |= reach_of(*file) != REACHES_NOTHING;
	rc = any ? tree_walk(tree, note_place, &search, err) : 0;
	if (rc)
		return rc;
	vec_for_each (patched, file)
		note_reach(ret, *file);
	/*
	 * autoreconf goes into the folders below with a configure of their own, and may change it.
	 */
	vec_for_each (ret, outer) {
		if (outer->reach != REACHES_TEMPLATES)
			continue;
		vec_for_each (ret, inner)
			if (inner->reach < REACHES_CONFIGURE &&
			    is_within(inner->source, outer->source))
				inner->reach = REACHES_CONFIGURE;
	}
	return 0;
}

static int add_commands(const place_list *places, const strvec *patched, struct buf *commands,
			struct uspl_err *err)
{
	const struct place *place;

	vec_for_each (places, place) {
		auto_free char *configure = file_join(place->source, "configure");

		if (place->foreign || place->reach != REACHES_TEMPLATES ||
		    (!file_is_in(place->source, "configure.ac") &&
		     !file_is_in(place->source, "configure.in")))
			continue;
		/* Where a patch brings configure along, its author has run autoconf. */
		if (configure && strvec_has(patched, configure))
			continue;
		buf_addstr(commands, "{ command -v autoreconf > /dev/null || "
				     "{ echo '*** autoreconf is not installed'; exit 1; }; } && ");
		add_change(commands, place->source);
		/* -f: autoconf compares times in seconds. */
		buf_addstr(commands, "autoreconf -f) && ");
	}
	vec_for_each (places, place) {
		if (place->foreign || place->reach == REACHES_NOTHING)
			continue;
		add_change(commands, place->build);
		if (place->reach > REACHES_OUTPUTS)
			buf_addstr(commands, "./config.status --recheck && ");
		buf_addstr(commands, "./config.status) && ");
	}
	if (commands->len)
		buf_addstr(commands, ":");
	return commands->oom ? uspl_fail_nomem(err) : 0;
}

int reconfigure_commands(const struct build_paths *paths, const strvec *patched,
			 struct buf *commands, struct uspl_err *err)
{
	auto_places place_list places = { 0 };
	int rc = find_places(paths->tree, patched, &places, err);

	if (rc)
		return rc;
	return add_commands(&places, patched, commands, err);
}

/*
 * Adds the file of the tree that a diff means by a name, however many folders are to be taken off
 * it. A new one isn't there yet, and says nothing of what was configured.
 */
static int add_named(const char *tree, const char *name, size_t len, strvec *files,
		     struct uspl_err *err)
{
	auto_free char *copy = strndup(name, len);

	if (!copy)
		return uspl_fail_nomem(err);
	for (const char *rest = copy; rest; rest = strchr(rest, '/')) {
		auto_free char *path = NULL;

		rest += *rest == '/';
		path = *rest ? file_join(tree, rest) : NULL;
		if (!path || access(path, F_OK) != 0)
			continue;
		return strvec_take(files, take_ptr(path)) ? 0 : uspl_fail_nomem(err);
	}
	return 0;
}

int reconfigure_before(const struct build_paths *paths, const char *diffs, struct buf *commands,
		       struct uspl_err *err)
{
	auto_places place_list places = { 0 };
	auto_strvec strvec named = { 0 };
	bool deep = false;
	char **file;
	int rc;

	for (const char *line = diffs; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "+++ ", 4) != 0)
			continue;
		rc = add_named(paths->tree, line + 4, strcspn(line + 4, "\t\r\n"), &named, err);
		if (rc)
			return rc;
	}
	vec_for_each (&named, file)
		deep |= reach_of(*file) >= REACHES_CONFIGURE;
	if (!deep)
		return 0;
	rc = find_places(paths->tree, &named, &places, err);
	if (rc)
		return rc;
	return add_commands(&places, &named, commands, err);
}

/* ---- has it been? ---- */

/*
 * A file that is written gets the time of the kernel's last tick (10 ms apart at most,
 * CONFIG_HZ_100); what the patch touches got the exact time.
 */
#define CLOCK_TICK_NS 10000000ll

static int64_t ns_of(const struct timespec *time)
{
	return time->tv_sec * 1000000000ll + time->tv_nsec;
}

/* True if the file is there, and was written before the time. */
static bool is_older(const char *folder, const char *name, const struct timespec *time)
{
	auto_free char *path = file_join(folder, name);
	struct stat st;

	return path && stat(path, &st) == 0 && ns_of(&st.st_mtim) + CLOCK_TICK_NS < ns_of(time);
}

/* What a file is known by until it is written again; NULL when out of memory. */
static char *version_of(const struct stat *st)
{
	return text_format("%ju %jd", (uintmax_t)st->st_ino, (intmax_t)ns_of(&st->st_mtim));
}

static int note_left(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	struct reconfigured *reconfigured = ctx;
	char *version;

	if (strcmp(file_basename(path), "configure") != 0 &&
	    strcmp(file_basename(path), "config.status") != 0)
		return 0;
	version = version_of(st);
	if (version && strmap_set(&reconfigured->left, path, version))
		return 0;
	free(version);
	return uspl_fail_nomem(err);
}

int reconfigure_note_failed(const struct build_paths *paths, struct reconfigured *reconfigured,
			    struct uspl_err *err)
{
	return tree_walk(paths->tree, note_left, reconfigured, err);
}

void reconfigured_release(struct reconfigured *reconfigured)
{
	for (size_t i = 0; i < reconfigured->left.cap; i++)
		if (reconfigured->left.slots[i].key)
			free(reconfigured->left.slots[i].value);
	strmap_release(&reconfigured->left);
}

/* True if the file is there, as the attempt has left it. */
static bool is_left(const char *folder, const char *name, const struct reconfigured *reconfigured)
{
	auto_free char *path = file_join(folder, name);
	const char *left = path ? strmap_get(&reconfigured->left, path) : NULL;
	auto_free char *now = NULL;
	struct stat st;

	if (!left || stat(path, &st) < 0)
		return false;
	now = version_of(&st);
	return !now || !strcmp(now, left);
}

/*
 * The part of a configuration that is as it was before the patch; NULL if there is none. What an
 * attempt that failed has left doesn't count: autoconf writes configure before it fails because of
 * a macro that it doesn't know, and the build configures by that.
 */
static const char *old_part(const struct place *place, const struct timespec *patched,
			    const struct reconfigured *reconfigured)
{
	bool failed = reconfigured->why.code;
	bool old;

	if (place->reach < REACHES_CONFIGURE && !failed)
		return NULL;
	if (failed && !place->foreign && is_left(place->source, "configure", reconfigured))
		return "configure";
	old = failed ? is_left(place->build, "config.status", reconfigured)
		     : is_older(place->build, "config.status", patched);
	return old ? "config.status" : NULL;
}

int reconfigure_find_old(const struct build_paths *paths, const char *file,
			 const struct reconfigured *reconfigured, char **ret, struct uspl_err *err)
{
	char *items[] = { (char *)file };
	const strvec files = { items, 1, 1 };
	auto_places place_list places = { 0 };
	const struct place *place;
	struct stat st;
	int rc;

	if (reconfigured->done || reach_of(file) == REACHES_NOTHING || stat(file, &st) < 0)
		return 0;
	rc = find_places(paths->tree, &files, &places, err);
	if (rc)
		return rc;
	vec_for_each (&places, place) {
		const char *old = place->reach == REACHES_NOTHING
					  ? NULL
					  : old_part(place, &st.st_mtim, reconfigured);

		if (!old)
			continue;
		*ret = file_join(place->build, old);
		return *ret ? 0 : uspl_fail_nomem(err);
	}
	return 0;
}
