/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build_parts.h - what the files behind build.h share; those about diffs are in build_patch.h
 *
 *     build_tree     the private copy of the source
 *     build_git      what a build may ask git of the copy
 *     build_folders  where the copy is, and all that belongs to it
 *     build_result   what it all gives
 *     build_work     the folder for that of one run, and those that killed runs left
 *     build_recipe   how a tree is built
 *     build_mirror   one folder made like another
 *     build_prebuild the first build, kept and used again
 *     build_wrapper  the compiler wrapper under the names of compilers and linkers
 *     build_configured  trees that were configured before
 *     build_phase    running a build under the compiler wrapper
 *     build_progress how far a build has come
 *     build_record   what the wrapper noted
 *     build_arfile   members of static archives
 *     build_inputs   the objects that a program was linked of
 *     build_units    what is known of the files that the two builds made
 *     build_collect  what each of the two builds made of what
 *     build_again    does the build after the patch have to be run once more?
 *     build_checks   whether the build after the patch did what it should
 *     build_links    from both to the pairs of objects of each program
 *     build_elf      build-id and soname of what was linked
 *     build_renamed  where a program went that was renamed after its link
 *     build_shipped  what of it all a source package ships
 */
#ifndef USPL_CREATE_BUILD_PARTS_H
#define USPL_CREATE_BUILD_PARTS_H

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/strmap.h"
#include "create/build.h"

/* The folders of one run; all absolute and without symbolic links. */
struct build_paths {
	char *source; /* the user's tree */
	char *work;   /* the work folder, with the copy in it: */
	char *tree;   /* WORK/tree */
	int lock;     /* held as long as the work folder is of this run alone; -1: it isn't */
};

/* ---- build_folders ---- */

/* The root of the user's tree, absolute and without symbolic links; the caller frees it. */
int source_find(const char *source, char **ret, struct uspl_err *err) uspl_must_check;

/* Refuses a folder in which builds can't be (USPL_E_USAGE), and removes it if it is empty. */
int folder_check_name(const char *folder, struct uspl_err *err) uspl_must_check;

struct prebuild;
/*
 * Sets work and tree. A work folder of this run alone is made; prebuild_use makes the one in the
 * folder of a prebuild that is open.
 */
int paths_find(const struct build_options *options, const struct prebuild *prebuild,
	       struct build_paths *ret, struct uspl_err *err) uspl_must_check;
void paths_release(struct build_paths *paths);

/* ---- build_work ---- */

/*
 * Makes a folder below TMPDIR, which the caller frees the name of and removes, and a lock that says
 * that it is in use, to be closed then. Removes those of this user that nobody uses any more.
 */
int work_make(char **ret, int *ret_lock, struct uspl_err *err) uspl_must_check;

/* ---- build_result ---- */

/* Frees what a link holds. */
void build_link_release(struct build_link *link);

/* ---- build_tree ---- */

/*
 * Copies paths->source to paths->tree, which is made: files with their modes and times, symbolic
 * links as they are but so that those into the tree lead into the copy. Left out: version control
 * folders, what is neither file, folder nor link, and the work folder if it lies in the tree.
 */
int tree_copy(const struct build_paths *paths, struct uspl_err *err) uspl_must_check;

/* True for the name of a C, C++ or assembler source, or of a header. */
bool tree_is_source(const char *name);
/* True for the name of a C or C++ source, or of a header. */
bool tree_is_c(const char *name);

/*
 * Gives all sources and headers in the copy one new time, so that every object and program that
 * came with it is out of date and is made again, while none of them is newer than another.
 */
int tree_renew_sources(const char *tree, struct uspl_err *err) uspl_must_check;

/* Writes a file anew, with the mode that it had. */
int tree_rewrite(const char *path, const struct buf *text, struct uspl_err *err) uspl_must_check;

typedef int (*tree_visit)(const char *path, const struct stat *st, void *ctx, struct uspl_err *err);
/* Calls visit for every regular file below a folder, those of version control left out. */
int tree_walk(const char *path, tree_visit visit, void *ctx, struct uspl_err *err) uspl_must_check;

typedef VEC(char *) tree_files;
/*
 * Notes all files of the tree by their inodes, for tree_changed. C and C++ sources that aren't
 * among the originals yet are kept as they are, for tree_original.
 */
int tree_snapshot(const struct build_paths *paths, struct strmap *inodes, struct strmap *originals,
		  struct uspl_err *err) uspl_must_check;
/*
 * Appends what a source was in the first snapshot that had it; nothing if none has.
 */
int tree_original(const struct build_paths *paths, const struct strmap *originals, const char *path,
		  struct buf *ret, struct uspl_err *err) uspl_must_check;
/* Appends the files that were made or replaced since the snapshot. */
int tree_changed(const char *tree, const struct strmap *inodes, tree_files *ret,
		 struct uspl_err *err) uspl_must_check;
/* True if the path is one of the files. */
bool tree_files_has(const tree_files *files, const char *path);
void tree_files_release(tree_files *files);
DEFINE_AUTO_RELEASE(tree_files, tree_files, tree_files_release)
#define auto_tree_files __attribute__((cleanup(cleanup_tree_files_)))

/* ---- build_recipe ---- */

/* How to build a tree: shell commands, run in its root. */
struct recipe {
	char *setup;   /* once, before the first build; NULL: nothing */
	char *build;   /* in each build */
	char *install; /* in its place where build compiles nothing; NULL: there is none */
	char *ship;    /* puts what is shipped where shipped_find looks; NULL: nothing is known */
	bool twice; /* build goes through everything again, which not every package's rules can */
};

/*
 * Finds out how the tree is built. `command` is the user's own, NULL if there is none. What it
 * needs to be configured anew, configured_adapt finds out.
 */
int recipe_find(const char *tree, const char *command, int jobs, struct recipe *ret,
		struct uspl_err *err) uspl_must_check;
void recipe_release(struct recipe *recipe);
DEFINE_AUTO_RELEASE(recipe, struct recipe, recipe_release)
#define auto_recipe __attribute__((cleanup(cleanup_recipe_)))

/* ---- build_wrapper ---- */

/*
 * Makes WORK/bin with the wrapper under every compiler's and linker's name in PATH, and the folders
 * for objects.
 */
int wrapper_prepare(const struct build_paths *paths, struct uspl_err *err) uspl_must_check;
/* In a child: CC and its like name compilers without their folders. */
void wrapper_rename_variables(void);
/* In a child: ccache and distcc do nothing until the wrapper runs them. */
void wrapper_hold_launchers(void);
/* Appends text with all absolute paths of compilers and linkers changed to those of the wrapper. */
int wrapper_replace_tools(const struct build_paths *paths, const char *text, struct buf *ret,
			  struct uspl_err *err) uspl_must_check;

/* ---- build_configured ---- */

/*
 * Makes folders of the copy that were configured by autotools, CMake or Meson, in the user's tree
 * and for the compilers themselves, ones of the copy and of the wrapper. Appends the shell commands
 * that configure them anew, each with "&& " after it.
 */
int configured_adapt(const struct build_paths *paths, struct buf *commands,
		     struct uspl_err *err) uspl_must_check;
/*
 * Finds the one folder below the tree that CMake was configured in; NULL if there is none.
 * USPL_E_UNSUPPORTED if there are several.
 */
int configured_find_cmake(const char *tree, char **ret, struct uspl_err *err) uspl_must_check;

/* ---- build_phase ---- */

/* A command of a build. */
struct phase {
	const char *name; /* "pre", "post" or "ship" */
	const char *command;
	const char *what; /* "building before the patch" */
	bool quiet;       /* failures aren't shown */
	bool twice;       /* as in struct recipe */
	/* Set where the command fails, which is no failure then; NULL: it is one. */
	bool *ret_failed;
	const char *failed; /* what a failure is called; NULL: the build's usual sentence */
};

/*
 * Runs a shell command in the copy, its output going to WORK/build-PHASE.log. If it fails, the end
 * of its output is shown on standard error, unless quiet. Reports to options->progress.
 */
int phase_run(const struct build_paths *paths, const struct build_options *options,
	      const struct phase *phase, struct uspl_err *err) uspl_must_check;

/* ---- build_progress ---- */

/* Counts what a build has compiled. */
struct meter {
	const struct build_options *options;
	double start;
	FILE *record; /* read as far as it was written; NULL if it isn't there yet */
	struct build_progress progress;
};

/* Begins to measure the time; what as in struct phase. */
void meter_start(struct meter *meter, const struct build_options *options, const char *what);
/* Reads on in the phase's record, and reports; options->progress must not be NULL. */
void meter_report(struct meter *meter, const char *record);
/* Reports the end. */
void meter_stop(struct meter *meter);

/* ---- build_git ---- */

/*
 * Makes the copy a git repository of its own, if the tree is one, with all that the tree's knows. A
 * tree below a repository's root, or a work tree that refers to one, stays without.
 */
int git_copy(const struct build_paths *paths, struct uspl_err *err) uspl_must_check;
/* Makes git take the files for unchanged; without git, or a repository, does nothing. */
void git_hide_changes(const struct build_paths *paths, const tree_files *patched);

/* ---- build_mirror ---- */

/* Makes the folder `to` like `from`: names, contents, modes and times, links by their text. */
int tree_mirror(const char *from, const char *to, struct uspl_err *err) uspl_must_check;

/* ---- build_prebuild ---- */

/* A folder in which the build before the patch is kept. */
struct prebuild {
	char *folder; /* NULL: nothing is kept */
	int lock;
	bool usable;      /* what is there can be used */
	struct buf state; /* what a build depends on now */
};

/*
 * Opens the folder, which is made if it isn't there, for ourselves alone. USPL_E_FILE if another
 * uspl-create works in it; a folder with other things in it is refused.
 */
int prebuild_open(const char *folder, struct prebuild *ret, struct uspl_err *err) uspl_must_check;
void prebuild_close(struct prebuild *prebuild);

/*
 * Finds out if the build that is kept is the one that would be made now, and then brings the tree
 * to the state after it. If not, empties the work folder; *ret_why_not, which the caller frees,
 * then says what is different, and stays as it is if there was no build.
 */
int prebuild_use(struct prebuild *prebuild, const struct build_paths *paths,
		 const struct recipe *recipe, char **ret_why_not,
		 struct uspl_err *err) uspl_must_check;

/* Keeps the build that was just made. */
int prebuild_save(const struct prebuild *prebuild, const struct build_paths *paths,
		  struct uspl_err *err) uspl_must_check;

/* ---- build_record ---- */

enum record_kind { RECORD_COMPILE, RECORD_PARTIAL, RECORD_LINK };

/* A line of create/wrapper/record.h. */
struct record {
	enum record_kind kind;
	char *output; /* of a compilation: the object */
	char *source; /* of a compilation */
	char *cwd;    /* of a compilation: the folder the compiler ran in */
	char *saved;  /* the copy of an object; of a program, NULL if there is none */
	char *deps;   /* of a compilation: the list of what it included; NULL if none */
	/* The compiler and its options; of a link the linker's options, NULL if there are none. */
	char *command;
	VEC(char *) inputs;
	uint64_t size; /* of the saved copy */
	bool altered;  /* another tool has changed the object since it was compiled */
	unsigned step; /* the build that it is of: 0 is the one before the patch */
};

typedef VEC(struct record *) record_list;

/*
 * Appends a phase's record to the list. No file is an empty record; a line that isn't one is
 * refused (USPL_E_FILE).
 */
int record_read(const char *work, const char *phase, record_list *ret,
		struct uspl_err *err) uspl_must_check;
void record_release(record_list *records);
DEFINE_AUTO_RELEASE(record, record_list, record_release)
#define auto_record __attribute__((cleanup(cleanup_record_)))

typedef int (*record_visit)(const char *path, void *ctx, struct uspl_err *err);
/*
 * Calls visit for the source of a compilation and for what its list of dependencies names, until it
 * fails.
 */
int record_each_file(const struct record *record, record_visit visit, void *ctx,
		     struct uspl_err *err) uspl_must_check;
/* True if the list of dependencies of a compilation names one of the files (absolute paths). */
int record_depends(const struct record *record, const tree_files *files, bool *ret,
		   struct uspl_err *err) uspl_must_check;

/* ---- build_arfile ---- */

/* A member of a static archive. Points into the archive's bytes. */
struct arfile_member {
	char *name;
	const void *data;
	size_t len;
};

struct arfile {
	struct buf bytes;
	VEC(struct arfile_member) members;
};

/*
 * Reads an archive in the System V or BSD form, not a thin one. Damaged ones are refused
 * (USPL_E_FILE).
 */
int arfile_read(const char *path, struct arfile **ret, struct uspl_err *err) uspl_must_check;
void arfile_free(struct arfile *archive);
DEFINE_AUTO_FREE(arfile, struct arfile, arfile_free)
#define auto_arfile __attribute__((cleanup(cleanup_arfile_)))

/* ---- build_elf ---- */

/*
 * Appends the build-id (hex) of an ELF file to link->build_ids, unless it is there already; sets
 * link->soname. A file without them, or none at all, is fine.
 */
int linked_note(struct build_link *link, const char *path, struct uspl_err *err) uspl_must_check;
/* True for an ELF program or shared library. */
bool linked_is_program(const char *path);

/* ---- build_shipped ---- */

/* What is known of what a source package ships. */
struct shipped {
	const char *command; /* the recipe's; NULL: nothing will be known */
	bool asked;
	struct strmap left_out; /* paths of programs that no package has */
};

/*
 * Marks the links of a build that none of the packages has that the tree is the source of. The
 * first time it runs the command that fills the packages, in the tree; put_back: the tree is as
 * before then. If that fails, a note says so, and all count as shipped.
 */
int shipped_find(struct shipped *shipped, const struct build_paths *paths,
		 const struct build_options *options, bool put_back, struct build *build,
		 struct uspl_err *err) uspl_must_check;
void shipped_release(struct shipped *shipped);

/* ---- build_renamed ---- */

/*
 * Where a program is now that was linked: its output, unless the build renamed or copied it and
 * left nothing there. The caller frees it.
 */
int renamed_find(const struct build_paths *paths, const struct record *link, char **ret,
		 struct uspl_err *err) uspl_must_check;

/* ---- build_inputs ---- */

/* What a program was linked of: an object that we saw being compiled, or a stranger. */
struct input {
	char *name;                  /* the object's path, or "(ARCHIVE)MEMBER" */
	const struct record *record; /* its compilation; NULL for a stranger */
	uint64_t hash;               /* of a stranger's bytes */
	bool gone; /* a stranger that was removed after the link: nothing is known of it */
};

typedef VEC(struct input) input_list;

/* All that is known of who made what. The records are borrowed. */
struct makers {
	const char *tree; /* the copy */
	const record_list *pre, *post;
	struct strmap by_path;  /* an object's path -> the last record that made it */
	struct strmap archives; /* an archive's path -> struct arfile, read once */
	bool sized;             /* the next two are filled */
	struct strmap sizes[2]; /* of pre and post: a size -> the saved objects that have it */
};

/* Notes that a record made its output. False when out of memory. */
bool makers_add(struct makers *makers, const struct record *record) uspl_must_check;
/* Forgets what was read of archives and saved objects: the next build changes and adds some. */
void makers_forget_archives(struct makers *makers);
void makers_release(struct makers *makers);

/*
 * The objects that a link's inputs come down to: archives and `ld -r` objects looked through, what
 * lies outside of the tree (the C library's start files and such) left out. Appends to ret.
 */
int makers_resolve(struct makers *makers, const struct record *link, input_list *ret,
		   struct uspl_err *err) uspl_must_check;
void input_list_release(input_list *inputs);

/* A hash of a file's bytes. */
int input_hash_file(const char *path, uint64_t *ret, struct uspl_err *err) uspl_must_check;

/* ---- build_units ---- */

struct units;

/* Collects what all builds made. paths outlive it. */
struct units *units_new(const struct build_paths *paths);
void units_free(struct units *units);
DEFINE_AUTO_FREE(units, struct units, units_free)
#define auto_units __attribute__((cleanup(cleanup_units_)))

/*
 * Takes in what the build before the patch made; must be called before the next build overwrites
 * it. USPL_E_UNSUPPORTED if nothing was compiled by a compiler that we stand for, or an object was
 * made twice and the older one is in a program.
 */
int units_add_pre(struct units *units, struct uspl_err *err) uspl_must_check;

/* Gives all sources that were compiled a new time: options that reach them may have changed. */
int units_renew_all(const struct units *units, const struct timespec *now,
		    struct uspl_err *err) uspl_must_check;
/* Gives the sources of all units that include one of the files a new time. */
int units_renew_dependents(const struct units *units, const tree_files *files,
			   const struct timespec *now, struct uspl_err *err) uspl_must_check;

/*
 * After a run of the build after the patch, before it is taken in: gives sources a new time that a
 * clean build would have compiled otherwise; *ret: there are some, and the build must be run again.
 * last: it has been; USPL_E_UNSUPPORTED if one still wasn't compiled.
 */
int units_find_early(struct units *units, const tree_files *patched, bool last, bool *ret,
		     struct uspl_err *err) uspl_must_check;
/*
 * Notes patched files that the build hasn't read, where that can be told; USPL_E_UNSUPPORTED if a
 * configure script is among them.
 */
int units_note_unread(const struct units *units, const tree_files *patched, struct build *build,
		      struct uspl_err *err) uspl_must_check;
/*
 * Appends the sources and headers that name a patched file which is none: `.incbin` reads what no
 * list of dependencies has.
 */
int units_find_mentions(const struct units *units, const tree_files *patched, tree_files *ret,
			struct uspl_err *err) uspl_must_check;

/*
 * Takes in what the build after the patch made, and fills build->units and build->links.
 * USPL_E_UNSUPPORTED: an object that no compilation we saw has made isn't what it was before the
 * patch; a unit that includes a patched file wasn't compiled again.
 */
int units_add_post(struct units *units, const tree_files *patched, struct build *build,
		   struct uspl_err *err) uspl_must_check;

/* The state after the patch becomes the one before the next. */
int units_start_over(struct units *units, struct uspl_err *err) uspl_must_check;

#endif
