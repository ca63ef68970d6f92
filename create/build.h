/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build.h - the program built before and after the patch
 *
 * The source is built twice in one private copy of its tree, so that paths are equal in both: first
 * as it is, then, incrementally, with the patch; with a series of patches once more for each of
 * them, and what one build made is what the next one starts from. The compiler wrapper
 * (create/wrapper) adds -ffunction-sections -fdata-sections -g, keeps a copy of each object as it
 * was when it was compiled, and notes which command made what of what. The user's tree is never
 * written to.
 */
#ifndef USPL_CREATE_BUILD_H
#define USPL_CREATE_BUILD_H

#include "base/cleanup.h"
#include "base/cli.h"
#include "base/error.h"
#include "base/vec.h"

/* How far a build has come. */
struct build_progress {
	const char *phase; /* "building before the patch" */
	size_t objects;    /* compiled so far */
	double seconds;
};

/* A diff to apply. */
struct build_patch {
	const char *path;   /* "-": standard input */
	const char *option; /* for patch(1), such as "-p0"; NULL: none */
};

/* An update that a process gets before; the strings are the update's. */
struct build_earlier {
	const char *id, *patch;
};

typedef VEC(struct build_earlier) build_earlier_list;

/* What the user asked for. */
struct build_options {
	const char *source;              /* the tree's root */
	VEC(struct build_patch) patches; /* applied in order */
	bool series; /* each of them makes a build of its own, after those before it */
	build_earlier_list earlier; /* their patches are in the tree */
	const char *command;        /* NULL: found by itself */
	int jobs;
	const char *keep;     /* keep the work folder here; NULL: a temporary one that is removed */
	const char *prebuild; /* keep the build before the patch here and use it again; NULL: no */
	/* Called some times a second while a build runs, and with NULL at its end. May be NULL. */
	void (*progress)(const struct build_progress *progress, void *ctx);
	void *progress_ctx;
};

/* One compilation: a source file and its object in each build. */
struct build_unit {
	char *source;   /* relative to the tree: "src/proto.c" */
	char *object;   /* the object's path relative to the tree, which identifies it */
	char *pre_obj;  /* the saved copies; NULL if it wasn't compiled in that build */
	char *post_obj; /* the same path as pre_obj if the second build didn't compile it again */
};

/* A program or library that was linked, with all units in it, archives looked through. */
struct build_link {
	char *path;   /* relative to the tree: "src/redis-server" */
	char *soname; /* NULL if none */
	/* In hex: of the pre build, and of what the user has at this path in the tree. */
	VEC(char *) build_ids;
	/*
	 * The program as it was linked before all patches, whatever later builds made of it; NULL
	 * if it wasn't, or couldn't be kept.
	 */
	char *file;
	/* In a series: as it was linked before this patch; else the same as `file`. */
	char *before;
	VEC(size_t) units; /* indexes, in the order in which the linker took them */
	bool unshipped;    /* builder_find_shipped: no package has it */
};

/* What was built before and after a diff, or several. */
struct build {
	const char *name; /* in a series: the diff, as the user calls it; else NULL */
	char *patch;      /* the text of all its diffs */
	size_t patch_len;
	VEC(struct build_unit) units;
	VEC(struct build_link) links;
	VEC(char *) notes; /* what the user should know of the builds, a sentence each */
};

/* A patch among the files that a diff changes or adds; the caller frees it. NULL: there is none. */
char *diff_brings_patch(const char *text);
/* Do the objects of one of its units differ between the builds? Also if one is new or gone. */
int build_link_changed(const struct build *build, const struct build_link *link, bool *ret,
		       struct uspl_err *err) uspl_must_check;
/* The same of a unit. */
int build_unit_changed(const struct build_unit *unit, bool *ret,
		       struct uspl_err *err) uspl_must_check;
/* Appends to build->notes. */
int build_note(struct build *build, struct uspl_err *err, const char *fmt, ...)
	uspl_printf(3, 4) uspl_must_check;
/* Frees all of it, not the objects. */
void build_free(struct build *build);
DEFINE_AUTO_FREE(build, struct build, build_free)
#define auto_build __attribute__((cleanup(cleanup_build_)))

/* Builds a tree: once before all diffs, then once after them, or in a series after each. */
struct builder;

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
/*
 * Finds out which of the links a source package ships, if the tree is one that is built by its own
 * rules, and anything changed.
 */
int builder_find_shipped(struct builder *builder, struct build *build,
			 struct uspl_err *err) uspl_must_check;
/* Also removes the work folder, unless it is to be kept. */
void builder_free(struct builder *builder);
DEFINE_AUTO_FREE(builder, struct builder, builder_free)
#define auto_builder __attribute__((cleanup(cleanup_builder_)))

#endif
