/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * builder.h - the program built before and after the patch
 *
 * The source is built twice in one private copy of its tree, so that paths are equal in both: first
 * as it is, then, incrementally, with the patch; with a series of patches once more for each of
 * them, and what one build made is what the next one starts from. The compiler wrapper
 * (create/wrapper) adds -ffunction-sections -fdata-sections -g, keeps a copy of each object as it
 * was when it was compiled, and notes which command made what of what. The user's tree is never
 * written to.
 */
#ifndef USPL_CREATE_BUILD_BUILDER_H
#define USPL_CREATE_BUILD_BUILDER_H

#include "base/cleanup.h"
#include "base/types.h"
#include "create/tree/lines_map.h"

struct build;
struct build_options;
struct builder;
struct uspl_err;

/*
 * Copies the tree, tries all diffs, and builds for the first time. USPL_E_BUILD: the build failed
 * (its last output is shown), or a diff doesn't apply, which is named; USPL_E_UNSUPPORTED: nothing
 * was compiled that we could see.
 */
int builder_new(const struct build_options *options, struct builder **ret,
		struct uspl_err *err) uspl_must_check;
/* True while there are diffs that haven't been built. */
bool builder_has_more(const struct builder *builder);
/*
 * Applies what comes next, and builds again. The objects that the result names live as long as the
 * builder. USPL_E_BUILD: the build failed; USPL_E_UNSUPPORTED: an object in a link that no
 * compilation we saw has made.
 */
int builder_next(struct builder *builder, struct build **ret, struct uspl_err *err) uspl_must_check;
/* The folder in which all of it lies. */
const char *builder_work(const struct builder *builder);
/* What the last builder_next was about, as the user calls it; in a series. */
const char *builder_last_name(const struct builder *builder);
/*
 * Takes the diffs of the last builder_next out of the tree, and builds again, so that what comes
 * next starts from what was before them. In a series alone. Nothing is done if they weren't
 * applied.
 */
int builder_take_back(struct builder *builder, struct uspl_err *err) uspl_must_check;
/*
 * Finds out which of the links a source package ships, if the tree is one that is built by its own
 * rules, and anything changed.
 */
int builder_find_shipped(struct builder *builder, struct build *build,
			 struct uspl_err *err) uspl_must_check;
/* The patched sources, and how the compiler has numbered their lines. */
int builder_lines_map(const struct builder *builder, lines_map *ret,
		      struct uspl_err *err) uspl_must_check;
/* Also removes the work folder, unless it is to be kept. */
void builder_free(struct builder *builder);
DEFINE_AUTO_FREE(builder, struct builder, builder_free)
#define auto_builder __attribute__((cleanup(cleanup_builder_)))

#endif
