/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build_patch.h - the diffs, and what they do to the copy of the tree
 *
 *     build_diff     reading and checking diffs
 *     build_arrange  diffs as people send them, made into what can be applied
 *     build_patch    applying diffs
 *     build_try      do they all apply?
 *     build_patched  patched sources whose unchanged lines have their old numbers
 *     build_flags    files that say how things are compiled and linked
 *     build_states   are line numbers states of a program, where they can't be kept?
 */
#ifndef USPL_CREATE_BUILD_PATCH_H
#define USPL_CREATE_BUILD_PATCH_H

#include "create/build_lines.h"
#include "create/build_parts.h"

/* ---- build_diff ---- */

/*
 * Appends the text of a diff ("-": standard input) to buf, after a check: USPL_E_FILE if it holds
 * no unified diff, USPL_E_HOSTILE if a name in it leads out of the tree.
 */
int diff_read(const char *path, struct buf *buf, struct uspl_err *err) uspl_must_check;
/* Adds the names of files that stand in a text of diffs, as keys; their values mean nothing. */
int diff_names(const char *text, struct strmap *names, struct uspl_err *err) uspl_must_check;

/* The same, of a text; USPL_E_UNSUPPORTED if it changes a file that isn't text. */
int diff_check(const char *name, const char *text, struct uspl_err *err) uspl_must_check;

/* The lines that are still to come in a hunk. Zero-initialise. */
struct diff_hunk {
	unsigned long before, after;
};

/* True if the line belongs to a hunk; one that begins a hunk doesn't. To be asked of each line. */
bool diff_in_hunk(struct diff_hunk *hunk, const char *line);
/* True for a line that says of a file that it isn't text. */
bool diff_is_binary(const char *line);

/* ---- build_patch ---- */

/* A diff. */
struct patch_file {
	const char *name;   /* as the user calls it, for messages */
	const char *option; /* the user's for patch(1), NULL if none */
	size_t text, len;   /* its place in the text of all diffs */
	char *path;         /* the file in the work folder that it was written to */
	/* How it wants to be applied, which patches_try finds out. */
	bool no_strip; /* with -p0 */
	bool binary;   /* with --binary: line ends count */
};

typedef VEC(struct patch_file) patch_files;

/* True if the user's option says how many folders to take off names. */
bool patch_sets_strip(const struct patch_file *patch);
/* Applies a diff to the tree. On failure the message names file and hunk. */
int patch_apply(const char *tree, const struct patch_file *patch,
		struct uspl_err *err) uspl_must_check;

/* ---- build_arrange ---- */

/*
 * Appends to ret what of a diff's text can be applied to the tree: without files other than sources
 * that the tree lacks, which are noted; of a debdiff of a package with quilt's patches, those that
 * it adds. USPL_E_UNSUPPORTED: it changes a patch that is applied already.
 */
int diff_arrange(const struct patch_file *patch, const char *tree, const char *text,
		 struct buf *ret, struct build *notes, struct uspl_err *err) uspl_must_check;

/* ---- build_try ---- */

/*
 * Finds out how each of the diffs wants to be applied, on top of those before it, without touching
 * the tree. text is that of all of them. USPL_E_BUILD: one doesn't apply; the message names it.
 */
int patches_try(const struct build_paths *paths, const char *text, patch_files *patches,
		struct uspl_err *err) uspl_must_check;

/* ---- build_patched ---- */

/* A patched source in which there are line directives. */
struct plain_file {
	char *path;
	struct buf text;      /* as the diffs left it */
	struct buf numbered;  /* with directives, while they are taken out */
	struct timespec time; /* of that */
};

typedef VEC(struct plain_file) plain_files;

/* A patched source as it was compiled after the last patch that touched it. */
struct compiled_file {
	char *path;
	struct buf text;
	struct lines_kept kept; /* what that patch did to its line numbers */
};

typedef VEC(struct compiled_file) compiled_files;

/* What is known of the line numbers of patched sources. */
struct numbering {
	plain_files plain;
	compiled_files compiled;
};

/*
 * Writes those of the patched files that are C or C++ anew, with directives by which unchanged
 * lines keep the numbers that they have had until now (build_lines.h). Takes these into ret.
 */
int patched_renumber(const struct build_paths *paths, const struct strmap *originals,
		     const tree_files *patched, struct numbering *ret,
		     struct uspl_err *err) uspl_must_check;
/* Writes the files as the diffs left them: the directives are in the way of the compiler. */
int numbering_give_up(struct numbering *numbering, struct uspl_err *err) uspl_must_check;
/* The same for a while, until patched_put_back. */
int patched_take_out(plain_files *plain, struct uspl_err *err) uspl_must_check;
/*
 * After the next diff: files that it touched are no longer ours, all others become what they were,
 * with their times.
 */
int patched_put_back(plain_files *plain, const tree_files *patched,
		     struct uspl_err *err) uspl_must_check;
void patched_release(plain_files *plain);
void numbering_release(struct numbering *numbering);

/* ---- build_flags ---- */

/* May one of the files change the options that sources are compiled with? */
bool flags_may_change(const tree_files *patched);
/*
 * Refuses patched linker scripts, and configure scripts that the build hasn't run since; notes what
 * else takes no effect in a process. After the build after the patch has been taken in.
 */
int flags_check(struct units *units, const tree_files *patched,
		struct uspl_err *err) uspl_must_check;

/* ---- build_states ---- */

/*
 * Refuses a patched source in which unchanged lines have got other numbers, if one of the files that
 * it is compiled from says `case __LINE__`: the process has such numbers as states. Where nothing
 * says so, what is known is a note. After the build after the patch has been taken in.
 */
int states_check(struct units *units, const struct numbering *numbering,
		 struct uspl_err *err) uspl_must_check;

#endif
