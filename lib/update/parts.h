/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.h - the files that an update consists of, in memory, wherever they came from
 *
 * A tarball and the folder of an unpacked one are both read into this. What the names and sizes may
 * be is decided here, once.
 */
#ifndef USPL_UPDATE_PARTS_H
#define USPL_UPDATE_PARTS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

struct objfile;

/* The limits of docs/update-format.md. */
#define PARTS_MAX_BYTES (64u << 20) /* of all parts together, unpacked */
#define PARTS_MAX_ENTRIES 4096u

struct part {
	char *name; /* within the update's folder: "targets/0/new.o" */
	char *data; /* NULL when len is 0 */
	size_t len;
	bool used; /* for the reader: this is a part that it knows */
};

struct parts {
	char *folder; /* "uspl-ID"; NULL if the folder's name doesn't matter */
	size_t bytes; /* of all together */
	VEC(struct part) items;
};

/*
 * Refuses (USPL_E_HOSTILE) a name that leaves the folder it is in, or that a terminal couldn't
 * show: absolute ones, those with "." or ".." or nothing between slashes, control characters, more
 * than 255 bytes.
 */
int parts_check_name(const char *name, struct uspl_err *err) uspl_must_check;
/* Refuses what would exceed the limits: one part more, of len bytes. */
int parts_check_room(const struct parts *parts, uint64_t len, struct uspl_err *err) uspl_must_check;
/*
 * Adds a part under a name that was checked; takes data's bytes. Refuses a name that is there
 * already, and a part beyond the limits.
 */
int parts_add(struct parts *parts, const char *name, struct buf *data,
	      struct uspl_err *err) uspl_must_check;
/* The part of that name, or NULL. Owned by parts. */
struct part *parts_find(struct parts *parts, const char *name);
/* The name of a target's ELF file: "targets/0/new.o". Allocated; NULL when out of memory. */
char *parts_object_name(size_t target, const char *file);
/*
 * Reads a part as such a file. USPL_E_FILE also if it is empty; USPL_E_HOSTILE: more symbols or
 * sections than docs/update-format.md allows.
 */
int parts_read_object(const struct part *part, struct objfile **ret,
		      struct uspl_err *err) uspl_must_check;
/* Puts the parts into the order of their names. */
void parts_sort(struct parts *parts);
/* Frees everything. */
void parts_release(struct parts *parts);

DEFINE_AUTO_RELEASE(parts, struct parts, parts_release)
#define auto_parts __attribute__((cleanup(cleanup_parts_)))

#endif
