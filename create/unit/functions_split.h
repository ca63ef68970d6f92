/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * functions_split.h - functions that lie in one section of an object get sections of their own
 *
 * -ffunction-sections does that for what the compiler makes, but not for assembler, nor for
 * functions that name their section.
 */
#ifndef USPL_CREATE_UNIT_FUNCTIONS_SPLIT_H
#define USPL_CREATE_UNIT_FUNCTIONS_SPLIT_H

#include "objfile/objfile.h"

/*
 * Splits each section of code of which it is certain where its functions begin and end, before
 * sections are sorted by kind. The others stay as they are, and are refused if they change.
 */
int functions_split(struct objfile *obj, struct uspl_err *err) uspl_must_check;

/* Where in its file's section such a section begins; 0 of others. */
static inline uint32_t functions_split_start(const struct objsec *sec)
{
	return sec->mark;
}

#endif
