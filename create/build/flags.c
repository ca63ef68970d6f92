// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * flags.c - patched files that say how things are compiled and linked
 *
 * Most makefiles don't make objects depend on themselves, so a build after a patch to one would
 * compile nothing again, or only what the patch changes besides. So everything is compiled again if
 * such a file is in the patch: what the new options don't concern gives the same objects. A
 * configure script that isn't run again (reconfigure.c) would leave the old options in force,
 * and a linker script takes no effect in a process: these are refused.
 */

#include "create/build/flags.h"

#include <fnmatch.h>
#include <string.h>

#include "base/file.h"
#include "create/build/reconfigure.h"
#include "create/build/units.h"
#include "create/tree/build.h"
#include "create/tree/tree.h"

/* clang-format off */
static const char *const flag_files[] = {
	"[Mm]akefile*", "GNUmakefile*", "*.mk", "*.mak", "*.make", "*.am", "*.in", "*.ac", "*.m4",
	"configure", "configure.*", "*.cmake", "CMakeLists.txt", "CMakePresets.json", "meson.build",
	"meson_options.txt", "meson.options", "*.ninja", "*.gn", "*.gni", "BUILD", "BUILD.bazel",
	"*.bzl", "SConstruct", "SConscript", "wscript", "*.pro", "*.pri", "Kconfig*", ".config",
	"*defconfig", "rules", "*.spec", "*.flags", "*.opts", "*.rsp",
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

bool flags_may_change(const strvec *patched)
{
	char **file;

	vec_for_each (patched, file)
		if (IS_ONE_OF(*file, flag_files))
			return true;
	return false;
}

/* The word of the linker's options that names a file; NULL if none does. */
static const char *link_word(const struct units *units, const char *file, size_t *ret_len)
{
	const char *name = file_basename(file);
	const struct program *program;

	vec_for_each (&units->programs, program) {
		const char *options =
			program->post_options ? program->post_options : program->pre_options;
		const char *at = options ? strstr(options, name) : NULL;

		if (!at || !strchr(" ,", at[strlen(name)]))
			continue;
		while (at > options && !strchr(" ,", at[-1]))
			at--;
		*ret_len = strcspn(at, " ,");
		return at;
	}
	return NULL;
}

static int check_read_by_linker(const struct units *units, const char *file, struct uspl_err *err)
{
	static const char *const options[] = { "version-script", "dynamic-list",
					       "retain-symbols-file", "export-dynamic-symbol" };
	const char *name = units_relative(units, file);
	size_t len = 0;
	const char *word = tree_is_source(file) ? NULL : link_word(units, file, &len);
	bool lists_symbols = IS_ONE_OF(file, version_scripts);

	for (size_t i = 0; word && i < ARRAY_SIZE(options); i++)
		lists_symbols |= memmem(word, len, options[i], strlen(options[i])) != NULL;
	if (lists_symbols)
		return build_note(units->build, err,
				  "the patch changes '%s'; what a library that is loaded already "
				  "exports stays as it is",
				  name);
	if (!word && !IS_ONE_OF(file, linker_scripts))
		return 0;
	uspl_fail(err, USPL_E_UNSUPPORTED, "the patch changes %s '%s'",
		  IS_ONE_OF(file, linker_scripts) ? "the linker script"
						  : "what the linker reads, in",
		  name);
	uspl_hint(err, "a program that runs is linked already: leave it out of the patch, if the "
		       "rest works without");
	return -USPL_E_UNSUPPORTED;
}

int flags_check(struct units *units, const strvec *patched, const struct reconfigured *reconfigured,
		struct uspl_err *err)
{
	char **file;

	vec_for_each (patched, file) {
		const char *name = units_relative(units, *file);
		auto_free char *old = NULL;
		int rc = check_read_by_linker(units, *file, err);

		if (rc)
			return rc;
		rc = reconfigure_find_old(units->paths, *file, reconfigured, &old, err);
		if (rc)
			return rc;
		if (!old)
			continue;
		if (reconfigured->why.code)
			uspl_fail(err, USPL_E_UNSUPPORTED,
				  "the patch changes '%s', and the options are those of before: "
				  "%.400s",
				  name, reconfigured->why.msg);
		else
			uspl_fail(err, USPL_E_UNSUPPORTED,
				  "the patch changes '%s', and the build didn't configure anew "
				  "after it: '%s' is older, so the options are those of before",
				  name, units_relative(units, old));
		uspl_hint(err, "--build='./configure OPTIONS && make' configures in each build; or "
			       "leave the file out of the patch, if it matters to new builds only");
		return -USPL_E_UNSUPPORTED;
	}
	return 0;
}
