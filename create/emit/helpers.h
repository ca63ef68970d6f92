/* SPDX-License-Identifier: GPL-3.0-or-later */
/* helpers.h - unchanged units that tell where things are that changed code comes to refer to */
#ifndef USPL_CREATE_EMIT_HELPERS_H
#define USPL_CREATE_EMIT_HELPERS_H

#include "base/types.h"

struct diff;
struct diff_unit;
struct objfile;
struct uspl_err;

/*
 * Chooses units that are the same in both builds and tell where things are that new.o refers to and
 * the units of pre.o know nothing of. ret has room for diff->n_inputs; after emit_new.
 */
int helpers_choose(const struct diff *diff, const struct objfile *new_code, struct diff_unit *ret,
		   size_t *ret_n, struct uspl_err *err) uspl_must_check;

#endif
