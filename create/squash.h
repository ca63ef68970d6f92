/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * squash.h - one update of several, each made on top of those before it
 *
 * The diffs that the updates hold are applied to the source that the first one was made from, one
 * after the other, and the update is made of what that changes. It takes their place in a process
 * that has them.
 */
#ifndef USPL_CREATE_SQUASH_H
#define USPL_CREATE_SQUASH_H

#include "update/update.h"

struct squash {
	VEC(struct update *) updates;
};

/*
 * Reads the updates of these n paths. USPL_E_UNSUPPORTED: one was made on top of another that isn't
 * before it, or for another build than one before it.
 */
int squash_read(struct squash *squash, char *const *paths, size_t n,
		struct uspl_err *err) uspl_must_check;
void squash_release(struct squash *squash);

#endif
