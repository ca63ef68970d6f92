/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arfile.h - members of static archives */
#ifndef USPL_CREATE_BUILD_ARFILE_H
#define USPL_CREATE_BUILD_ARFILE_H

#include "base/buf.h"
#include "base/vec.h"

struct uspl_err;

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

#endif
