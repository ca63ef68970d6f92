/* SPDX-License-Identifier: GPL-3.0-or-later */
/* build.h - what is to be built, and what the builds gave */
#ifndef USPL_CREATE_TREE_BUILD_H
#define USPL_CREATE_TREE_BUILD_H

#include "base/cleanup.h"
#include "base/strvec.h"
#include "base/types.h"
#include "base/vec.h"

struct uspl_err;

/* How far a build has come. */
struct build_progress {
	const char *phase; /* "building before the patch" */
	size_t objects;    /* compiled so far */
	double seconds;
};

/* A diff to apply. */
struct build_patch {
	const char *path;   /* "-": standard input */
	const char *name;   /* for people; NULL: the path */
	const char *option; /* for patch(1), such as "-p0"; NULL: none */
	const char *text;   /* the diff itself; NULL: it is in the file */
};

/* An update that a process gets before this one; the strings are the update's. */
struct build_earlier {
	const char *id, *patch;
};

typedef VEC(struct build_earlier) build_earlier_list;

/* What the user asked for. */
struct build_options {
	const char *source; /* the tree's root */
	/* Names the source where its folder is another one each time; NULL: it is known by that. */
	const char *origin;
	VEC(struct build_patch) patches; /* applied in order */
	bool series; /* each of them makes a build of its own, after those before it */
	bool partly; /* of a series: one may be taken back, and the next one not apply without it */
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

/* A program or library that was linked, with all units in it, those from archives too. */
struct build_link {
	char *path;   /* relative to the tree: "src/redis-server" */
	char *soname; /* NULL if none */
	/* In hex: of the pre build, and of what the user has at this path in the tree. */
	strvec build_ids;
	/*
	 * So many of these, the first ones, are only those of the copy that was built: as a rule
	 * they depend on where that lay, by the paths in its debugging information.
	 */
	size_t n_passing;
	/*
	 * The program as it was linked before all patches, whatever later builds made of it; NULL
	 * if it wasn't, or couldn't be kept.
	 */
	char *file;
	/* In a series: as it was linked before this patch; else the same as `file`. */
	char *before;
	char *options;     /* the linker's, words with blanks between; NULL if there are none */
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
	strvec notes; /* what the user should know of the builds, a sentence each */
};

/* Do the objects of one of its units differ between the builds? Also if one is new or gone. */
int build_link_changed(const struct build *build, const struct build_link *link, bool *ret,
		       struct uspl_err *err) uspl_must_check;
/* The same for a unit. */
int build_unit_changed(const struct build_unit *unit, bool *ret,
		       struct uspl_err *err) uspl_must_check;
/* Appends to build->notes. */
int build_note(struct build *build, struct uspl_err *err, const char *fmt, ...)
	uspl_printf(3, 4) uspl_must_check;
/* Frees all of it, not the objects. */
void build_free(struct build *build);
DEFINE_AUTO_FREE(build, struct build, build_free)
#define auto_build __attribute__((cleanup(cleanup_build_)))

/* Frees what a link holds. */
void build_link_release(struct build_link *link);

#endif
