/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_info.h - the call frame information of the functions that an update carries */
#ifndef USPL_CREATE_EMIT_UNWIND_INFO_H
#define USPL_CREATE_EMIT_UNWIND_INFO_H

#include "objfile/objfile.h"

struct buf;
struct side;
struct unit;

/*
 * Notes at each function with exception handling where its language specific data lie and what
 * reads them.
 */
int unwind_index(const struct unit *unit, const struct side *side,
		 struct uspl_err *err) uspl_must_check;
/*
 * The call frame information of the carried functions of a unit: appends the records to buf and
 * their relocations, in terms of the post object's symbols, to rels.
 */
typedef VEC(struct objrel) objrel_vec;
int unwind_collect(const struct unit *unit, struct buf *buf, objrel_vec *rels,
		   struct uspl_err *err) uspl_must_check;

#endif
