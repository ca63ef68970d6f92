/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * units.h - what is known of the files that the two builds made: units_collect.c collects it,
 * units_check.c checks it, units_links.c makes units of it, units_again.c tells whether the
 * build after the patch has to be run once more, and units_made.c whether it makes sources of
 * patched ones
 */
#ifndef USPL_CREATE_BUILD_UNITS_H
#define USPL_CREATE_BUILD_UNITS_H

#include <time.h>

#include "base/strvec.h"
#include "create/build/inputs.h"
#include "create/build/record.h"
#include "create/tree/build.h"
#include "create/tree/tree.h"

struct build_paths;
struct content;
struct copies;
struct uspl_err;

/* Collects what all builds made. paths outlive it. */
struct units *units_new(const struct build_paths *paths);
void units_free(struct units *units);
DEFINE_AUTO_FREE(units, struct units, units_free)
#define auto_units __attribute__((cleanup(cleanup_units_)))

/*
 * Takes in what the build before the patch made; must be called before the next build overwrites
 * it. USPL_E_UNSUPPORTED if nothing was compiled by a compiler that the wrapper stands for, or an
 * object was made twice and the older one is in a program.
 */
int units_add_pre(struct units *units, struct uspl_err *err) uspl_must_check;

/* Gives all sources that were compiled a new time: options that reach them may have changed. */
int units_renew_all(const struct units *units, const struct timespec *now,
		    struct uspl_err *err) uspl_must_check;
/* Gives the sources of all units that include one of the files a new time. */
int units_renew_dependents(const struct units *units, const strvec *files,
			   const struct timespec *now, struct uspl_err *err) uspl_must_check;

/*
 * After a run of the build after the patch, before it is taken in: gives sources a new time that a
 * clean build would have compiled otherwise; *ret: there are some, and the build must be run again.
 * last: it has been; USPL_E_UNSUPPORTED if one still wasn't compiled.
 */
int units_find_early(struct units *units, const strvec *patched, bool last, bool *ret,
		     struct uspl_err *err) uspl_must_check;
/* True if only what is compiled, and what is for people, was patched: nothing of the options. */
bool units_only_sources(const struct units *units, const strvec *patched);
/*
 * *ret: a file that the build before has made, and compiled, and that is no mere copy, may be made
 * of what the patch changes: it has a line of those that the patch shows. Also where the patch
 * shows none that tells.
 */
int units_are_made_of(const struct units *units, const struct copies *copies, const char *patch,
		      bool *ret, struct uspl_err *err) uspl_must_check;
/*
 * Notes patched files that the build hasn't read, where that can be told; USPL_E_UNSUPPORTED if a
 * configure script is among them.
 */
int units_note_unread(const struct units *units, const strvec *patched, struct build *build,
		      struct uspl_err *err) uspl_must_check;
/*
 * Appends the sources and headers that name a patched file which is neither, as `.incbin` does, or
 * one that no compilation before the patch has read: a header that another one of its name gives
 * way to, or that `__has_include` asks for. No list of dependencies has these.
 */
int units_find_mentions(const struct units *units, const strvec *patched, strvec *ret,
			struct uspl_err *err) uspl_must_check;

/*
 * Takes in what the build after the patch made, and fills build->units and build->links.
 * USPL_E_UNSUPPORTED: an object that no compilation we saw has made isn't what it was before the
 * patch; a unit that includes a patched file wasn't compiled again.
 */
int units_add_post(struct units *units, const strvec *patched, struct build *build,
		   struct uspl_err *err) uspl_must_check;

/* The state after the patch becomes the one before the next. */
int units_start_over(struct units *units, struct uspl_err *err) uspl_must_check;

/* A program or library that was linked, and of what in each build. */
struct program {
	char *path;
	struct build_link link; /* what is known of the file, and its units */
	input_list pre, post;
	struct strmap pre_names, post_names; /* their inputs by name */
	bool in_post;                        /* linked in the build after the patch too */
	/* The linker's options in each build; NULL if there were none. */
	const char *pre_options, *post_options;
	const char *linked; /* what was kept of the last link; NULL: nothing */
};

/* A source or header of the tree, as it was after the build before the patch. */
struct content {
	char *path; /* as compilers name it */
	uint64_t hash;
	bool gone;            /* it wasn't there any more */
	bool changed;         /* the build after the patch has made another one of it */
	struct timespec time; /* then */
};

struct units {
	const struct build_paths *paths;
	struct build *build;   /* to be filled */
	record_list pre, post; /* of all builds up to the patch, and of the one after it */
	unsigned step;         /* of the build after the patch */
	struct makers makers;
	/* Objects that the first build made of several sources, one after the other. */
	struct strmap shared;
	struct strmap pre_objects; /* an object's path -> its last compilation before the patch */
	VEC(struct program) programs;
	VEC(struct content) contents;
	struct strmap content_of; /* path -> index in contents, plus 1 */
	bool back;                /* the build after takes a patch out again */
	bool new_options;         /* the patch changes files that say how to build */
	record_list outside;      /* of members of archives that the tree didn't make */
	struct strmap known;      /* "has-pre has-post OBJECT" -> index of the build_unit, plus 1 */
	struct strmap optimised;  /* objects whose code was made at a link: their paths */
	VEC(const struct build_link *) last_link; /* by build_unit: the last that it was put into */
};

/* The path of what was compiled if the build has made it in the tree, the caller's; else NULL. */
char *units_made_path(const struct units *units, const struct content *content);
/* A path without the copy's folder; the path itself if it lies elsewhere. Points into path. */
const char *units_relative(const struct units *units, const char *path);
/* The object's last compilation before the patch, NULL if there was none. */
const struct record *units_pre_record(const struct units *units, const char *object);
/* The object's compilation after the patch, NULL if there was none. */
const struct record *units_post_record(const struct units *units, const char *object);
/* Takes in the records of the build after the patch; `build` is what will be filled. */
int units_read_post(struct units *units, struct build *build, struct uspl_err *err) uspl_must_check;
/* True if one of the records is of a compilation. */
bool units_compiled(const record_list *records);

/* Has a unit another object now, though neither it nor what it includes is in the patch? */
int units_is_generated(const struct units *units, const struct record *post, const strvec *patched,
		       bool *ret, struct uspl_err *err) uspl_must_check;

/* Notes of each object whether it was changed since it was compiled (objcopy). */
int units_note_altered(const struct units *units, const record_list *records,
		       struct uspl_err *err) uspl_must_check;
/* Notes what each compiled source and what it includes holds, for units_find_early. */
int units_note_contents(struct units *units, struct uspl_err *err) uspl_must_check;
void units_forget_contents(struct units *units);

/*
 * Refuses a build after the patch that went past us, or left out what the patch changes; what it
 * generated anew is noted.
 */
int units_check(const struct units *units, const strvec *patched,
		struct uspl_err *err) uspl_must_check;

#endif
