/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inputs.h - the objects that a program was linked from */
#ifndef USPL_CREATE_BUILD_INPUTS_H
#define USPL_CREATE_BUILD_INPUTS_H

#include "base/strmap.h"
#include "create/build/arfile.h"
#include "create/build/record.h"

struct uspl_err;

/* What a program was linked from: an object that we saw being compiled, or a stranger. */
struct input {
	char *name;                  /* the object's path, or "(ARCHIVE)MEMBER" */
	const struct record *record; /* its compilation; NULL for a stranger */
	uint64_t hash;               /* of a stranger's bytes, less its build-ids */
	bool removed;                /* a stranger that was removed after the link */
	bool gone;                   /* and of which nothing is known */
	bool outside; /* a member of an archive that lies outside of the tree: nothing is read */
};

typedef VEC(struct input) input_list;

/* All that is known of which command made which object. The records are borrowed. */
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
 * lies outside of the tree (the C library's start files and such) left out, but for the names of
 * members. Appends to ret.
 */
int makers_resolve(struct makers *makers, const struct record *link, input_list *ret,
		   struct uspl_err *err) uspl_must_check;
/*
 * What the member of an archive outside of the tree holds, which its input names; *ret is the
 * makers'. NULL: several have the name, and the linker doesn't say which it took.
 */
int makers_find_outside(struct makers *makers, const struct input *input,
			const struct arfile_member **ret, struct uspl_err *err) uspl_must_check;
void input_list_release(input_list *inputs);

/* A hash of a file's bytes. */
int input_hash_file(const char *path, uint64_t *ret, struct uspl_err *err) uspl_must_check;

#endif
