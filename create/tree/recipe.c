// SPDX-License-Identifier: GPL-3.0-or-later
// recipe.c - how a tree is built
//
// The first line of the table whose file exists tells how. Trees that are configured come before
// trees that are not (configured.c). CMake is mostly configured in a folder of its own, below.
//
// A Debian source package is built by its own rules, for these alone have the flags of the program
// that the archive ships. The rules think in whole builds: stamp files say that all is done.
// Without these the build goes through everything again, the configuration too, but a file that
// comes out the same keeps its time, and so only what the patch touched is compiled. Two files of
// dh_autoreconf's say that a configure script has been made: they stay where the patch is one to
// sources alone (USPL_SETTLED), since to make it anew takes longer than all the rest.
//
// Some packages compile when they install, and leave the build empty: where the build compiles
// nothing, the install step is run instead, in both builds.
//
// Where the patch is one to sources alone, and nothing that the build has made of these is
// compiled, what the rules configure would come out as it is (USPL_CONFIGURED). dh passes over a
// step for which the rules have a target without a recipe; what they have in its place gets a shell
// that does nothing. The rules are themselves again when the build has ended.
//
// The part that doesn't depend on the processor is documentation, mostly: it is left out where the
// rules can tell it apart. Profiles leave out what only an installer's packages or another
// processor have, and by their definition change no other package. DEB_BUILD_PATH
// (dpkg-buildflags(1)) makes the flags name the folder in which the archive builds packages, and
// not ours: some programs keep their flags as a string.

#include "create/tree/recipe.h"

#include "create/tree/configured.h"

#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "package/dpkg.h"

#define MAKE "make -j%d"
/* clang-format off */
#define RULES_ENVIRONMENT \
	"DEB_BUILD_PATH=${DEB_BUILD_PATH:-/build/reproducible-path/" \
		"$(dpkg-parsechangelog -SSource)-$(dpkg-parsechangelog -SVersion | " \
		"sed 's/^[0-9]*://; s/-[^-]*$//')} " \
	"SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -STimestamp) " \
	"DEB_BUILD_OPTIONS='parallel=%d nocheck noautodbgsym' " \
	"DEB_BUILD_PROFILES=\"${DEB_BUILD_PROFILES:+$DEB_BUILD_PROFILES }" DPKG_PROFILES "\" "
/* A stamp says that all patches are applied; one that came after it is to be applied, too. */
#define PATCH_STAMPS \
	"for stamp in $(find . -type f \\( -name '*patch-stamp' -o -name '*stamp-patch*' " \
		"-o -name '*patched-stamp' \\)); do " \
		"[ -z \"$(find debian/patches -newer $stamp)\" ] || rm $stamp; done; "
/* Another file, and not another end of the same: a build that is kept may have it, too. */
#define SETTLE_RULES \
	"rm -f ../rules; " \
	"if [ -n \"$USPL_CONFIGURED\" ] && head -n 1 debian/rules | grep -q make; then " \
		"{ cat debian/rules && printf '\\nifneq (,$(filter %%s,$(MAKECMDGOALS)))\\n" \
			"override SHELL := /bin/true\\nendif\\noverride_dh_auto_configure:\\n' " \
			"'override_dh_auto_configure%% execute_before_dh_auto_configure%% " \
			"execute_after_dh_auto_configure%%'; } > ../settled && " \
		"chmod --reference=debian/rules ../settled && mv debian/rules ../rules && " \
		"mv ../settled debian/rules; fi && "
/*
 * Of the stamps in a folder, as glibc's rules have them, those that came when all was compiled: the
 * first one behind the last compilation may be of the step that did it, the others are of steps
 * that nothing compiled depends on (glibc's locales). A second behind it, since times have a
 * grain. They are made newer than what they depend on. Asked once, of the build before the patch:
 * each build makes some anew.
 */
#define LATE_STAMPS \
	"if [ \"$USPL_CC_PHASE\" = post ] && [ ! -e ../late ]; then touch ../late; " \
		"find ./*stamp*/ -type f -empty -name '*build*' -printf '%%T@ %%p\\n' " \
			"2> /dev/null | sort -n | " \
			"awk -v last=\"$(stat -c %%.9Y \"$USPL_CC_WORK/record-pre\")\" " \
				"'$1 >= last { if (!first) first = $1; " \
					"else if ($1 > first + 1) print $2 }' | " \
			"while read -r stamp; do touch -d '1 day' \"$stamp\"; done; fi; "
#define RULES_BEFORE PATCH_STAMPS LATE_STAMPS \
	"[ -n \"$USPL_SETTLED\" ] || rm -f debian/autoreconf.*; rm -f debian/*.debhelper.log && " \
	"find . -type f \\( -name '*build-stamp' -o -name 'build-*-stamp' " \
		"-o -name 'build-stamp-*' " \
		"-o -name '*stamp-build*' -o -name 'stamp-*-build' \\) -delete && " \
	"find . -type f -empty -regex '.*stamp[^/]*/[^/]*build[^/]*' " \
		"! -newermt '1 hour' -delete && " \
	"{ [ -n \"$USPL_SETTLED\" ] || " \
		"find . -maxdepth 2 -type f -empty -name '*configure*' -delete; } && " \
	SETTLE_RULES RULES_ENVIRONMENT
#define RULES_AFTER "; status=$?; [ ! -e ../rules ] || mv ../rules debian/rules; exit $status"
#define ROOT "$(command -v fakeroot) "
#define RULES RULES_BEFORE "debian/rules " \
		"$(grep -qE '^(%%|.*build-arch.*):' debian/rules && " \
			"echo build-arch || echo build)" \
		RULES_AFTER
/* What dpkg-buildpackage does next, as far as it puts files where packages are made of them. */
#define RULES_INSTALL RULES_BEFORE ROOT "debian/rules install" RULES_AFTER
/*
 * Fills debian/PACKAGE. Rules that have no such step, or one of their own for making packages, make
 * the packages, which are then unpacked.
 */
#define RULES_SHIP \
	"rm -rf ../shipped ../*.deb && mkdir ../shipped && " \
	"if grep -qE '^(%%|.*install-arch.*):' debian/rules && " \
		"! grep -qE '^[^#]*binary-arch.*:' debian/rules; then " \
		RULES_ENVIRONMENT ROOT "debian/rules install-arch; " \
	"else DPKG_DEB_COMPRESSOR_TYPE=none " RULES_ENVIRONMENT ROOT \
		"debian/rules binary-arch && " \
		"for deb in ../*.deb; do " \
			"dpkg-deb -x $deb ../shipped/$(dpkg-deb -f $deb Package) || exit; done; fi"
/* clang-format on */
#define OUT "uspl-build" /* a folder of our own: a CMake cache can't be moved */

static const char cmake_lists[] = "CMakeLists.txt", rules[] = "debian/rules";

/* clang-format off */
static const struct {
	const char *file; /* what tells */
	const char *setup, *build;
} recipes[] = {
	{ "config.status",  NULL, MAKE },
	{ "CMakeCache.txt", NULL, "cmake --build . -j %d" },
	{ rules,            NULL, RULES },
	{ "GNUmakefile",    NULL, MAKE },
	{ "Makefile",       NULL, MAKE },
	{ "makefile",       NULL, MAKE },
	{ "configure",      "./configure", MAKE },
	{ "autogen.sh",     "NOCONFIGURE=1 ./autogen.sh && ./configure", MAKE },
	{ "configure.ac",   "autoreconf -fi && ./configure", MAKE },
	{ "configure.in",   "autoreconf -fi && ./configure", MAKE },
	{ cmake_lists,      "cmake -S . -B " OUT, "cmake --build " OUT " -j %d" },
	{ "meson.build",    "meson setup " OUT, "ninja -C " OUT " -j %d" },
};
/* clang-format on */

static int set(struct recipe *ret, const char *setup, const char *build, int jobs,
	       struct uspl_err *err)
{
	auto_recipe struct recipe recipe = { 0 };

	recipe.build = text_format(build, jobs);
	if (!recipe.build)
		return uspl_fail_nomem(err);
	recipe.setup = setup ? strdup(setup) : NULL;
	if (setup && !recipe.setup)
		return uspl_fail_nomem(err);
	log_info("build", "this tree is built by '%s%s%s'", setup ? setup : "", setup ? " && " : "",
		 recipe.build);
	*ret = recipe;
	recipe = (struct recipe){ 0 };
	return 0;
}

/* The user's own configuration, if there is one, is that of the program. */
static int find_cmake(const char *tree, size_t line, int jobs, struct recipe *ret,
		      struct uspl_err *err)
{
	auto_free char *folder = NULL;
	auto_buf struct buf build = { 0 };
	int rc = configured_find_cmake(tree, &folder, err);

	if (rc)
		return rc;
	if (!folder)
		return set(ret, recipes[line].setup, recipes[line].build, jobs, err);
	buf_addstr(&build, "cmake --build ");
	buf_add_shell_word(&build, folder);
	buf_addf(&build, "-j %d", jobs);
	if (build.oom)
		return uspl_fail_nomem(err);
	ret->setup = NULL;
	ret->build = buf_take(&build);
	return 0;
}

int recipe_find(const char *tree, const char *command, int jobs, struct recipe *ret,
		struct uspl_err *err)
{
	if (command) {
		ret->setup = NULL;
		ret->build = strdup(command);
		return ret->build ? 0 : uspl_fail_nomem(err);
	}
	for (size_t i = 0; i < ARRAY_SIZE(recipes); i++) {
		int rc;

		if (!file_is_in(tree, recipes[i].file))
			continue;
		rc = recipes[i].file == cmake_lists
			     ? find_cmake(tree, i, jobs, ret, err)
			     : set(ret, recipes[i].setup, recipes[i].build, jobs, err);
		if (rc || recipes[i].file != rules)
			return rc;
		/* What a Debian source package's rules can do beside building. */
		ret->twice = true;
		ret->install = text_format(RULES_INSTALL, jobs);
		if (!ret->install)
			return uspl_fail_nomem(err);
		ret->ship = text_format(RULES_SHIP, jobs, jobs);
		if (!ret->ship)
			return uspl_fail_nomem(err);
		return 0;
	}
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "cannot find out how this tree is built: no Makefile, configure, CMakeLists.txt "
		  "or meson.build in its root");
	uspl_hint(err, "say it with --build=COMMAND, or name the tree's root with --source=FOLDER");
	return -USPL_E_UNSUPPORTED;
}

void recipe_release(struct recipe *recipe)
{
	free(recipe->setup);
	free(recipe->build);
	free(recipe->install);
	free(recipe->ship);
	*recipe = (struct recipe){ 0 };
}
