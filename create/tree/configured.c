// SPDX-License-Identifier: GPL-3.0-or-later
// configured.c - trees that were configured before
//
// What configure and cmake leave behind names the folder that they ran in, and the compiler, often
// by its absolute path. In the copy both are wrong: the build would write to the user's tree, and
// compile past the wrapper. But what they found out, and the options that they were given, are
// those of the program that runs. So the tool keeps them, changes the paths in config.status and
// CMakeCache.txt, and makes anew what follows from these. It tells Meson the new folders: else
// ninja would have Meson configure the user's tree as soon as the patch changes a meson.build.

#include "create/tree/configured.h"

#include "create/tree/paths.h"
#include "create/tree/tree.h"
#include "create/tree/wrapper.h"

#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"

static const char cache_name[] = "CMakeCache.txt";

struct adaption {
	const struct build_paths *paths;
	struct buf *commands;
};

static void add_folder(struct buf *commands, const char *path)
{
	auto_free char *folder = strndup(path, (size_t)(file_basename(path) - path) - 1);

	if (folder)
		buf_add_shell_word(commands, folder);
	else
		commands->oom = true;
}

/* What stands behind a key that begins a line; NULL if nothing does, or when out of memory. */
static char *value_of(const char *text, const char *key, const char *ends)
{
	const char *at = strstr(text, key);

	while (at && at > text && at[-1] != '\n')
		at = strstr(at + 1, key);
	if (!at)
		return NULL;
	at += strlen(key);
	return strndup(at, strcspn(at, ends));
}

/*
 * Appends the text with the user's tree renamed to the copy. named: a folder of it as the text
 * calls it, which may be by way of symbolic links. False if it isn't one of that tree: then the
 * text stays.
 */
static bool move(const struct build_paths *paths, const struct buf *text, const char *named,
		 struct buf *ret)
{
	auto_free char *real = named ? realpath(named, NULL) : NULL;
	auto_free char *copy = NULL;
	auto_buf struct buf once = { 0 };
	size_t len = strlen(paths->source);

	if (!real || strncmp(real, paths->source, len) || (real[len] && real[len] != '/')) {
		buf_add(ret, buf_str(text), text->len);
		return false;
	}
	copy = text_format("%s%s", paths->tree, real + len);
	if (!copy) {
		ret->oom = true;
		return true;
	}
	path_rename(&once, buf_str(text), named, copy);
	path_rename(ret, buf_str(&once), paths->source, paths->tree);
	ret->oom |= once.oom;
	return true;
}

/* ---- autotools ---- */

static int adapt_status(struct adaption *adaption, const char *path, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	auto_buf struct buf moved = { 0 };
	auto_buf struct buf adapted = { 0 };
	auto_free char *home = NULL;
	int rc = file_read(path, &text, err);

	if (rc)
		return rc;
	home = value_of(buf_str(&text), "ac_pwd='", "'\n");
	move(adaption->paths, &text, home, &moved);
	if (moved.oom)
		return uspl_fail_nomem(err);
	rc = wrapper_replace_tools(adaption->paths, buf_str(&moved), &adapted, err);
	if (rc || !strcmp(buf_str(&text), buf_str(&adapted)))
		return rc;
	buf_addstr(adaption->commands, "(cd ");
	add_folder(adaption->commands, path);
	buf_addstr(adaption->commands, "&& ./config.status) && ");
	return tree_rewrite(path, &adapted, err);
}

/* ---- CMake ---- */

/* The source folder that a cache is of. */
static char *home_of(const struct buf *cache)
{
	return value_of(buf_str(cache), "CMAKE_HOME_DIRECTORY:INTERNAL=", "\r\n");
}

static int adapt_cache(struct adaption *adaption, const char *path, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	auto_buf struct buf moved = { 0 };
	auto_buf struct buf adapted = { 0 };
	auto_free char *was = NULL;
	auto_free char *home = NULL;
	auto_free char *notes = NULL;
	int rc = file_read(path, &text, err);

	if (rc)
		return rc;
	was = home_of(&text);
	if (!move(adaption->paths, &text, was, &moved))
		return 0;
	home = home_of(&moved);
	if (moved.oom || !home)
		return uspl_fail_nomem(err);
	rc = wrapper_replace_tools(adaption->paths, buf_str(&moved), &adapted, err);
	if (rc)
		return rc;
	buf_addstr(adaption->commands, "cmake -S ");
	buf_add_shell_word(adaption->commands, home);
	buf_addstr(adaption->commands, "-B ");
	add_folder(adaption->commands, path);
	buf_addstr(adaption->commands, "&& ");
	/* What cmake noted of the compiler beside its cache goes: cmake would compare the two. */
	notes = text_format("%.*sCMakeFiles", (int)(file_basename(path) - path), path);
	if (!notes)
		return uspl_fail_nomem(err);
	rc = file_remove_tree(notes, err);
	if (rc)
		return rc;
	return tree_rewrite(path, &adapted, err);
}

/* ---- Meson ---- */

/* The folder of the sources, as Meson notes it of a folder that it has configured. */
static char *meson_source(const char *text)
{
	static const char key[] = "\"source\": \"";
	const char *at = strstr(text, key);

	return at ? strndup(at + sizeof(key) - 1, strcspn(at + sizeof(key) - 1, "\"\\")) : NULL;
}

/* Meson keeps the compilers and options that it found in a form of its own. */
static int adapt_meson(struct adaption *adaption, const char *path, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	auto_buf struct buf moved = { 0 };
	auto_free char *info = strndup(path, (size_t)(file_basename(path) - path) - 1);
	auto_free char *was = NULL;
	auto_free char *home = NULL;
	int rc = info ? file_read(path, &text, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	was = meson_source(buf_str(&text));
	if (!move(adaption->paths, &text, was, &moved))
		return 0;
	home = meson_source(buf_str(&moved));
	if (moved.oom || !home)
		return uspl_fail_nomem(err);
	buf_addstr(adaption->commands, "{ ! command -v meson || meson setup --reconfigure ");
	add_folder(adaption->commands, info);
	buf_add_shell_word(adaption->commands, home);
	buf_addstr(adaption->commands, "; } && ");
	return 0;
}

/* ---- the tree ---- */

static int adapt(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	const char *name = file_basename(path);

	(void)st;
	if (!strcmp(name, "config.status"))
		return adapt_status(ctx, path, err);
	if (!strcmp(name, "meson-info.json"))
		return adapt_meson(ctx, path, err);
	return strcmp(name, cache_name) ? 0 : adapt_cache(ctx, path, err);
}

int configured_adapt(const struct build_paths *paths, struct buf *commands, struct uspl_err *err)
{
	struct adaption adaption = { paths, commands };
	int rc = tree_walk(paths->tree, adapt, &adaption, err);

	return rc || !commands->oom ? rc : uspl_fail_nomem(err);
}

struct found {
	const char *tree;
	char *folders[2];
};

static int note_folder(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	struct found *found = ctx;
	char **slot = &found->folders[found->folders[0] != NULL];
	auto_buf struct buf text = { 0 };
	auto_free char *home = NULL;
	auto_free char *real = NULL;
	int rc;

	(void)st;
	if (found->folders[1] || strcmp(file_basename(path), cache_name))
		return 0;
	rc = file_read(path, &text, err);
	home = rc ? NULL : home_of(&text);
	real = home ? realpath(home, NULL) : NULL;
	if (!real || strcmp(real, found->tree))
		return rc;
	path += strlen(found->tree) + 1;
	*slot = strndup(path, (size_t)(file_basename(path) - path));
	return *slot ? 0 : uspl_fail_nomem(err);
}

int configured_find_cmake(const char *tree, char **ret, struct uspl_err *err)
{
	struct found found = { .tree = tree };
	int rc = tree_walk(tree, note_folder, &found, err);

	if (!rc && found.folders[1]) {
		rc = uspl_fail(
			err, USPL_E_UNSUPPORTED,
			"CMake is configured in '%s' and in '%s', and only one of them can be "
			"how the program was built",
			found.folders[0], found.folders[1]);
		uspl_hint(err, "say which: --build='cmake --build %s'", found.folders[0]);
	}
	if (!rc)
		*ret = take_ptr(found.folders[0]);
	free(found.folders[0]);
	free(found.folders[1]);
	return rc;
}
