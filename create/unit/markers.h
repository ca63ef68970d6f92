/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * markers.h - the notes of a program's markers (include/uspl/mark.h), one section for each
 *
 * An object has them all in one section that is loaded and that nothing refers to. New code that
 * has markers takes their notes with it.
 */
#ifndef USPL_CREATE_UNIT_MARKERS_H
#define USPL_CREATE_UNIT_MARKERS_H

#include "create/unit/unit.h"

/* Before sections get their parts: gives each note a section of its own. */
int markers_split(struct objfile *obj, struct uspl_err *err) uspl_must_check;
/* Afterwards: ties them to the code that they are about (secinfo.marks). */
void markers_tie(struct objfile *obj);

#endif
