// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * build_flags.c - patched files that say how things are compiled and linked
 *
 * Most makefiles don't make objects depend on themselves, so a build after a patch to one would
 * compile nothing again, or only what the patch changes besides. So everything is compiled again if
 * such a file is in the patch: what the new options don't concern gives the same objects. A configure
 * script that the build doesn't run again would leave the old options in force, and a linker script
 * takes no effect in a process: these are refused.
 */

#include <fnmatch.h>
#include <string.h>

#include "base/file.h"
#include "create/build_patch.h"
#include "create/build_units.h"

/* clang-format off */
static const char *const flag_files[] = {
	"[Mm]akefile*", "GNUmakefile*", "*.mk", "*.mak", "*.make", "*.am", "*.in", "*.ac", "*.m4",
	"configure", "configure.*", "*.cmake", "CMakeLists.txt", "CMakePresets.json", "meson.build",
	"meson_options.txt", "meson.options", "*.ninja", "*.gn", "*.gni", "BUILD", "BUILD.bazel",
	"*.bzl", "SConstruct", "SConscript", "wscript", "*.pro", "*.pri", "Kconfig*", ".config",
	"*defconfig", "rules", "*.spec", "*.flags", "*.opts", "*.rsp",
};
static const char *const configure_files[] = {
	"configure", "configure.ac", "configure.in", "acinclude.m4", "aclocal.m4",
};
static const char *const linker_scripts[] = { "*.ld", "*.lds", "*.ldscript", "*.lds.S" };
static const char *const version_scripts[] = { "*.map", "*.ver", "*.sym", "*.syms", "*.version" };
/* clang-format on */

static bool is_one_of(const char *path, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!fnmatch(patterns[i], file_basename(path), 0))
			return true;
	return false;
}

#define IS_ONE_OF(path, patterns) is_one_of(path, patterns, ARRAY_SIZE(patterns))

bool flags_may_change(const tree_files *patched)
{
	char **file;

	vec_for_each (patched, file)
		if (IS_ONE_OF(*file, flag_files))
			return true;
	return false;
}

/*
 * A file that is written gets the time of the kernel's last tick (10 ms apart at most,
 * CONFIG_HZ_100); what the patch touches got the exact time.
 */
#define CLOCK_TICK_NS 10000000ll

static int64_t ns_of(const struct timespec *time)
{
	return time->tv_sec * 1000000000ll + time->tv_nsec;
}

/* Looks for a config.status that is older than the patch: configure hasn't been run since. */
struct old_status {
	struct timespec patched;
	char *path;
};

static int note_status(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	struct old_status *old = ctx;

	if (old->path || strcmp(file_basename(path), "config.status") != 0 ||
	    ns_of(&st->st_mtim) + CLOCK_TICK_NS >= ns_of(&old->patched))
		return 0;
	old->path = strdup(path);
	return old->path ? 0 : uspl_fail_nomem(err);
}

static int check_configured(const struct units *units, const char *file, struct uspl_err *err)
{
	struct old_status old = { .path = NULL };
	auto_free char *path = NULL;
	struct stat st;
	int rc;

	if (stat(file, &st) < 0)
		return 0;
	old.patched = st.st_mtim;
	rc = tree_walk(units->paths->tree, note_status, &old, err);
	path = old.path;
	if (rc || !path)
		return rc;
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "the patch changes '%s', and the build didn't configure anew after it: '%s' is "
		  "older, so the options are those of before",
		  units_relative(units, file), units_relative(units, path));
	uspl_hint(err,
		  "--build='./configure OPTIONS && make' configures in each build; or leave the "
		  "file out of the patch, if it matters to new builds only");
	return -USPL_E_UNSUPPORTED;
}

int flags_check(struct units *units, const tree_files *patched, struct uspl_err *err)
{
	char **file;
	int rc = 0;

	vec_for_each (patched, file) {
		const char *name = units_relative(units, *file);

		if (IS_ONE_OF(*file, linker_scripts)) {
			uspl_fail(err, USPL_E_UNSUPPORTED,
				  "the patch changes the linker script '%s'", name);
			uspl_hint(err, "a program that runs is linked already: leave it out of the "
				       "patch, if the rest works without");
			return -USPL_E_UNSUPPORTED;
		}
		if (IS_ONE_OF(*file, version_scripts))
			rc = build_note(units->build, err,
					"the patch changes '%s'; what a library that is loaded "
					"already exports stays as it is",
					name);
		if (!rc && IS_ONE_OF(*file, configure_files))
			rc = check_configured(units, *file, err);
		if (rc)
			return rc;
	}
	return 0;
}
