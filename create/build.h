/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build.h - the program built before and after the patch
 *
 * The source is built twice in one private copy of its tree, so that paths are equal in both: first
 * as it is, then, incrementally, with the patch. The compiler wrapper (create/wrapper) adds
 * -ffunction-sections -fdata-sections -g, keeps a copy of each object as it was when it was
 * compiled, and notes which command made what of what. The user's tree is never written to.
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

/* What the user asked for. */
struct build_options {
	const char *source;    /* the tree's root */
	cli_strings patches;   /* diffs, applied in order */
	const char *patch_opt; /* "-p1" */
	const char *command;   /* NULL: found by itself */
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
	VEC(size_t) units; /* indexes */
};

struct build {
	char *work;  /* the work folder */
	bool keep;   /* it is not removed */
	char *patch; /* the text of all patches */
	size_t patch_len;
	VEC(struct build_unit) units;
	VEC(struct build_link) links;
	VEC(char *) notes; /* what the user should know of the builds, a sentence each */
};

/*
 * Copies, builds, patches, builds again. USPL_E_BUILD: a build failed (its last output is shown,
 * and which build it was), or the patch doesn't apply; USPL_E_UNSUPPORTED: an object in a link that
 * no compilation we saw has made.
 */
int build_run(const struct build_options *options, struct build **ret,
	      struct uspl_err *err) uspl_must_check;
/* Also removes the work folder, unless it is to be kept. */
void build_free(struct build *build);
DEFINE_AUTO_FREE(build, struct build, build_free)
#define auto_build __attribute__((cleanup(cleanup_build_)))

#endif
