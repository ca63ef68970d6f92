/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build_patch.h - the diffs, and what they do to the copy of the tree
 *
 *     build_diff     reading and checking diffs
 *     build_mail     mails, made the text that they carry
 *     build_sections a diff as a run of sections
 *     build_debdiff  what diffs of packages change in the source
 *     build_lacking  files that a diff changes, and the tree lacks
 *     build_arrange  diffs as people send them, made into what can be applied
 *     build_patch    applying diffs
 *     build_try      do they all apply?
 *     build_patched  patched sources whose unchanged lines have their old numbers
 *     build_flags    files that say how things are compiled and linked
 *     build_reconfigure  a tree that autoconf has configured, configured anew after a patch
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

/* ---- build_mail ---- */

/*
 * Appends a text; of a mail, or a mailbox, its subjects and bodies without what mail programs have
 * made of them.
 */
int mail_decode(const char *text, size_t len, struct buf *ret,
		struct uspl_err *err) uspl_must_check;

/* ---- build_diff, too ---- */

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
	bool reverse;  /* it is taken out */
	bool exact;    /* with all its context, or not at all */
	bool dry_run;  /* nothing is written */
	bool in_tree;  /* of a series: the tree has it already, as patches_try found out */
};

typedef VEC(struct patch_file) patch_files;

/* True if the user's option says how many folders to take off names. */
bool patch_sets_strip(const struct patch_file *patch);
/* Applies a diff to the tree. On failure the message names file and hunk. */
int patch_apply(const char *tree, const struct patch_file *patch,
		struct uspl_err *err) uspl_must_check;

/*
 * Runs a command in a folder, and appends what it prints. Its exit status, 127 if there is no such
 * command; below 0 a failure.
 */
int command_output(const char *const *argv, const char *folder, struct buf *out,
		   struct uspl_err *err) uspl_must_check;

/* ---- build_sections ---- */

/* What a diff says of one file. Points into its text. */
struct section {
	const char *start, *end;
	const char *from, *to; /* the names after "--- " and "+++ "; NULL if there are none */
	const char *git;       /* what follows "diff --git " */
	bool binary, is_new, is_gone;
};

typedef VEC(struct section) section_list;

/* Appends the sections of a diff; what stands in front of the first is nobody's. */
int sections_split(const char *text, section_list *ret, struct uspl_err *err) uspl_must_check;
/* The file that a section is about, "" if that isn't said; the caller frees it. */
char *section_name(const struct section *section);
/* The same, before it was renamed. */
char *section_old_name(const struct section *section);
/* Where its hunks begin; NULL if it has none. */
const char *section_hunks(const struct section *section);
/* Appends the lines that a section adds (sign '+') or takes away ('-'). */
void section_lines(const struct section *section, char sign, struct buf *ret);

/* ---- build_debdiff ---- */

enum debdiff_kind {
	DEBDIFF_NONE,  /* it is no diff of a package with patches */
	DEBDIFF_QUILT, /* of debian/patches, format 3.0 (quilt) */
	DEBDIFF_SPEC,  /* of a spec file */
};

/*
 * Appends what a diff of a package changes in the source by the patches that the package has, and
 * notes it. USPL_E_UNSUPPORTED: it takes patches out of an rpm package, or changes them;
 * USPL_E_BUILD: patches that it changes can't be taken out of the tree.
 */
int debdiff_resolve(const struct build_paths *paths, const struct patch_file *patch,
		    const section_list *sections, struct buf *ret, enum debdiff_kind *ret_kind,
		    struct build *notes, struct uspl_err *err) uspl_must_check;
/* Is a file one of those that have been made use of then? */
bool debdiff_takes(enum debdiff_kind kind, const char *name);
/* Is it debian/changelog? */
bool debdiff_is_changelog(const char *name);
/* The rest of a name below a folder, which may itself lie below others; NULL if it isn't there. */
const char *debdiff_below(const char *name, const char *folder);

/* ---- build_lacking ---- */

/* Is a file that the tree lacks a source, or what sources or the build's files are made of? */
bool lacking_matters(const char *tree, const char *name);
/*
 * Finds out if what a diff changes in a source that the tree lacks can be left out. If the build
 * may have a use for it, that is refused (USPL_E_UNSUPPORTED); *ret_leave_out stays false where
 * nothing is known of names.
 */
int lacking_check(const char *tree, const char *diff, const char *name,
		  const section_list *sections, bool *ret_leave_out,
		  struct uspl_err *err) uspl_must_check;

/* ---- build_arrange ---- */

/*
 * Appends to ret what of a diff's text can be applied to the tree: without files other than sources
 * that the tree lacks, which are noted; of a diff of a package with patches, what these change.
 */
int diff_arrange(const struct patch_file *patch, const struct build_paths *paths, const char *text,
		 struct buf *ret, struct build *notes, struct uspl_err *err) uspl_must_check;

/* ---- build_try ---- */

/*
 * Copies the files of the tree with these names to a folder, which is made: under each name that is
 * left when leading folders are taken off.
 */
int patches_copy_named(const char *tree, const struct strmap *names, const char *folder,
		       struct uspl_err *err) uspl_must_check;

/*
 * Finds out how each of the diffs wants to be applied, on top of those before it, without touching
 * the tree. text is that of all of them. USPL_E_BUILD: one doesn't apply; the message names it. Of
 * a series those that the tree has already are marked.
 */
int patches_try(const struct build_paths *paths, const char *text, bool series,
		patch_files *patches, struct uspl_err *err) uspl_must_check;

/*
 * Refuses updates that are said to come before, and whose patches the tree lacks
 * (USPL_E_UNSUPPORTED). One that neither comes out nor goes in may be in, and changed by another
 * one.
 */
int patches_check_earlier(const struct build_paths *paths, const build_earlier_list *list,
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
/* What came of configuring the tree anew after the patch. */
struct reconfigured {
	bool done;             /* the tree is configured by the patched files */
	struct uspl_err why;   /* it was tried and failed; code 0: it wasn't tried */
	struct timespec since; /* then: what configures itself since is fine */
};

/*
 * Refuses patched linker scripts, and configure scripts that haven't been run since; notes what
 * else takes no effect in a process. After the build after the patch has been taken in.
 */
int flags_check(struct units *units, const tree_files *patched,
		const struct reconfigured *reconfigured, struct uspl_err *err) uspl_must_check;

/* ---- build_reconfigure ---- */

/*
 * Appends the shell command that configures anew what the patched files say of a configuration by
 * autoconf; nothing if they say nothing of it, or the tree has none.
 */
int reconfigure_commands(const struct build_paths *paths, const tree_files *patched,
			 struct buf *commands, struct uspl_err *err) uspl_must_check;
/*
 * The same before the patch, for what the diffs will change of it: so that both builds are
 * configured alike. Nothing where only what config.status makes is concerned.
 */
int reconfigure_before(const struct build_paths *paths, const char *diffs, struct buf *commands,
		       struct uspl_err *err) uspl_must_check;
/*
 * Finds what a patched file should have changed of a configuration, and is older: *ret is its name,
 * for the caller to free, and stays as it is if there is none.
 */
int reconfigure_find_old(const struct build_paths *paths, const char *file,
			 const struct reconfigured *reconfigured, char **ret,
			 struct uspl_err *err) uspl_must_check;

/* ---- build_states ---- */

/*
 * Refuses a patched source in which unchanged lines have got other numbers, if one of the files
 * that it is compiled from says `case __LINE__`: the process has such numbers as states. Likewise
 * one that the build writes anew by itself. After the build after the patch has been taken in.
 */
int states_check(struct units *units, const struct numbering *numbering, const tree_files *patched,
		 struct uspl_err *err) uspl_must_check;

#endif
