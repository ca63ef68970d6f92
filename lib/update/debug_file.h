/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * debug_file.h - the debugging information of an update's new code, in a file of its own
 *
 * uspl-ID.debug is a gzipped tar like an update, with debug.json, a targets/N/debug.o for each
 * target, and the patched sources. Nothing that changes a process reads it. It says of which update
 * it is, by the digest of that one's file, which the records in processes have, too: so a file of
 * another build isn't taken for it. docs/update-format.md is the specification.
 */
#ifndef USPL_UPDATE_DEBUG_FILE_H
#define USPL_UPDATE_DEBUG_FILE_H

#include "base/digest.h"
#include "update/update.h"

#define DEBUG_FILE_SUFFIX ".debug"

/* A source that the patch changes, as the patch has left it. */
struct debug_source {
	char *path; /* relative to the tree */
	struct buf text;
};

struct debug_file {
	char *id;     /* the update's */
	char *digest; /* of its file, SHA-256 in hex */
	char *tree;   /* the root of the tree, as the debugging information has it; NULL: unknown */
	VEC(struct objfile *) targets; /* debug.o of each */
	VEC(struct debug_source) sources;
};

/*
 * Appends the file; created: as the update has it. The bytes depend on these alone. Sources with
 * names that an update can't have are left out. USPL_E_UNSUPPORTED: it would be larger than a
 * reader takes.
 */
int debug_file_pack(const struct debug_file *file, const char *created, struct buf *ret,
		    struct uspl_err *err) uspl_must_check;
/*
 * Reads the one of an update that has this id and digest, by a process without rights (unpack.h).
 * USPL_E_FILE: it isn't one, is damaged, or cut short; USPL_E_HOSTILE, USPL_E_FORMAT as for an
 * update; USPL_E_NO_MATCH: it belongs to another one. *ret_bytes: what was read; NULL: not asked.
 */
int debug_file_read(const char *path, const char *id, const char *digest, struct debug_file *ret,
		    struct buf *ret_bytes, struct uspl_err *err) uspl_must_check;
void debug_file_release(struct debug_file *file);
DEFINE_AUTO_RELEASE(debug_file, struct debug_file, debug_file_release)
#define auto_debug_file __attribute__((cleanup(cleanup_debug_file_)))

/*
 * The name of the file that belongs to an update's: FILE.debug, where FILE is that name without
 * .tar.gz. Allocated; NULL when out of memory.
 */
char *debug_file_path(const char *update);

#endif
