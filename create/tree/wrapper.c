// SPDX-License-Identifier: GPL-3.0-or-later
// wrapper.c - the compiler wrapper under the names of compilers and linkers

#include "create/tree/wrapper.h"

#include "create/tree/paths.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/compiler.h"
#include "base/file.h"
#include "base/path.h"
#include "create/wrapper/held.h"

/* What the wrapper stands in front of. */
static bool is_tool(const char *name)
{
	return compiler_is_tool(name) || compiler_is_launcher(name);
}

static int link_name(const char *folder, const char *name, const char *target, struct uspl_err *err)
{
	auto_free char *path = file_join(folder, name);

	if (!path)
		return uspl_fail_nomem(err);
	if (symlink(target, path) < 0 && errno != EEXIST)
		return uspl_fail_errno(err, "cannot create '%s'", path);
	return 0;
}

/*
 * A kept work folder has the links to the wrapper of the uspl-create that made it. That may be gone
 * by now, and a link that leads nowhere would be passed over for the compiler itself.
 */
static int drop_old_links(const char *bin, const char *wrapper, struct uspl_err *err)
{
	auto_closedir DIR *dir = opendir(bin);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		char was[PATH_MAX];
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, was, sizeof(was));

		if (len < 0 ||
		    ((size_t)len == strlen(wrapper) && !memcmp(was, wrapper, (size_t)len)))
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			return uspl_fail_errno(err, "cannot remove '%s/%s'", bin, entry->d_name);
	}
	return 0;
}

static int link_tools_of(const char *folder, const char *bin, const char *wrapper,
			 struct uspl_err *err)
{
	auto_closedir DIR *dir = opendir(folder);
	struct dirent *entry;
	int rc = 0;

	/* PATH may name folders that don't exist. */
	while (dir && (entry = readdir(dir)) != NULL)
		if (is_tool(entry->d_name) && faccessat(dirfd(dir), entry->d_name, X_OK, 0) == 0) {
			rc = link_name(bin, entry->d_name, wrapper, err);
			if (rc)
				return rc;
		}
	return 0;
}

static int link_tools(const char *bin, const char *wrapper, struct uspl_err *err)
{
	auto_free char *path = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	char *state = NULL;
	int rc = 0;

	if (!path)
		return uspl_fail_nomem(err);
	for (char *dir = strtok_r(path, ":", &state); dir; dir = strtok_r(NULL, ":", &state)) {
		rc = link_tools_of(dir, bin, wrapper, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int find_wrapper(char **ret, struct uspl_err *err)
{
	auto_free char *wrapper = NULL;
	int rc = path_beside_program("../libexec/uspl/uspl-cc", &wrapper, err);

	if (rc)
		return rc;
	if (access(wrapper, X_OK) < 0)
		return uspl_fail_errno(err, "cannot run the compiler wrapper '%s'", wrapper);
	*ret = take_ptr(wrapper);
	return 0;
}

/* Variables by which builds are told a tool. */
static const char *const tool_variables[] = { "CC", "CXX", "LD", "HOSTCC" };

/*
 * An absolute path in CC would go past PATH: the wrapper stands in for it by its name, and finds
 * the real one in WORK/real.
 */
static int link_variables(const char *bin, const char *real, const char *wrapper,
			  struct uspl_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(tool_variables); i++) {
		/* The word that it begins with, if that is an absolute path. */
		const char *value = getenv(tool_variables[i]);
		auto_free char *path =
			value && *value == '/' ? strndup(value, strcspn(value, " \t")) : NULL;
		int rc;

		if (!path)
			continue;
		rc = link_name(bin, file_basename(path), wrapper, err);
		if (rc)
			return rc;
		rc = link_name(real, file_basename(path), path, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* The headers of patches, by themselves: a tree must find no other one of uspl's than it has. */
static int write_headers(const char *work, struct uspl_err *err)
{
	extern const char uspl_hook_header_begin[], uspl_hook_header_end[];
	extern const char uspl_shadow_header_begin[], uspl_shadow_header_end[];
	const struct {
		const char *name, *begin, *end;
	} headers[] = {
		{ "include/uspl/hook.h", uspl_hook_header_begin, uspl_hook_header_end },
		{ "include/uspl/shadow.h", uspl_shadow_header_begin, uspl_shadow_header_end },
	};
	auto_free char *folder = file_join(work, "include/uspl");
	int rc = folder ? file_mkdirs(folder, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		auto_free char *path = file_join(work, headers[i].name);

		if (!path)
			return uspl_fail_nomem(err);
		rc = file_write(path, headers[i].begin, (size_t)(headers[i].end - headers[i].begin),
				err);
		if (rc)
			return rc;
	}
	return 0;
}

int wrapper_prepare(const struct build_paths *paths, struct uspl_err *err)
{
	static const char *const folders[] = { "bin",         "real",         "lto",
					       "objects/pre", "objects/post", "objects/ship" };
	auto_free char *bin = file_join(paths->work, "bin");
	auto_free char *real = file_join(paths->work, "real");
	auto_free char *lto = file_join(paths->work, "lto");
	auto_free char *wrapper = NULL;
	int rc = bin && real && lto ? find_wrapper(&wrapper, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		auto_free char *folder = file_join(paths->work, folders[i]);

		rc = folder ? file_mkdirs(folder, err) : uspl_fail_nomem(err);
		if (rc)
			return rc;
	}
	rc = write_headers(paths->work, err);
	if (rc)
		return rc;
	rc = drop_old_links(bin, wrapper, err);
	if (rc)
		return rc;
	rc = drop_old_links(lto, wrapper, err);
	if (rc)
		return rc;
	rc = link_name(lto, "lto-wrapper", wrapper, err);
	if (rc)
		return rc;
	rc = link_variables(bin, real, wrapper, err);
	if (rc)
		return rc;
	return link_tools(bin, wrapper, err);
}

void wrapper_rename_variables(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(tool_variables); i++) {
		const char *value = getenv(tool_variables[i]);
		const char *name = value;

		if (!value || *value != '/')
			continue;
		name += strcspn(value, " \t");
		while (name[-1] != '/')
			name--;
		setenv(tool_variables[i], name, 1);
	}
}

void wrapper_hold_launchers(void)
{
	for (const struct held *held = held_variables; held->name; held++) {
		const char *was = getenv(held->name);

		if (was)
			setenv(held->kept, was, 1);
		else
			unsetenv(held->kept);
		setenv(held->name, held->value, 1);
	}
}

/* ---- absolute paths in files ---- */

/* True if the path, len long, is that of a compiler or linker. */
static bool is_tool_path(const char *path, size_t len)
{
	auto_free char *copy = strndup(path, len);
	struct stat st;

	return copy && is_tool(file_basename(copy)) && access(copy, X_OK) == 0 &&
	       stat(copy, &st) == 0 && S_ISREG(st.st_mode);
}

static int stand_in(const struct build_paths *paths, const char *path, size_t len, struct buf *ret,
		    struct uspl_err *err)
{
	auto_free char *real = file_join(paths->work, "real");
	auto_free char *bin = file_join(paths->work, "bin");
	auto_free char *tool = strndup(path, len);
	auto_free char *wrapper = NULL;
	int rc;

	if (!real || !bin || !tool)
		return uspl_fail_nomem(err);
	rc = find_wrapper(&wrapper, err);
	if (rc)
		return rc;
	rc = link_name(bin, file_basename(tool), wrapper, err);
	if (rc)
		return rc;
	rc = link_name(real, file_basename(tool), tool, err);
	if (rc)
		return rc;
	buf_addf(ret, "%s/%s", bin, file_basename(tool));
	return 0;
}

int wrapper_replace_tools(const struct build_paths *paths, const char *text, struct buf *ret,
			  struct uspl_err *err)
{
	static const char in_paths[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789/._+-";
	size_t own = strlen(paths->work);
	int rc = 0;

	while (*text) {
		size_t len = strspn(text, in_paths);

		if (*text == '/' && strncmp(text, paths->work, own) && is_tool_path(text, len))
			rc = stand_in(paths, text, len, ret, err);
		else
			buf_add(ret, text, len ? len : 1);
		text += len ? len : 1;
		if (rc)
			return rc;
	}
	return 0;
}
