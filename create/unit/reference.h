/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference.h - where a reference to a place in a section points */
#ifndef USPL_CREATE_UNIT_REFERENCE_H
#define USPL_CREATE_UNIT_REFERENCE_H

#include "base/types.h"

struct objrel;
struct objsec;

/* True for a distance from the place of the reference (PC32, PLT32). */
bool reference_is_relative(const struct objrel *rel);
/*
 * Where in its section a reference to a symbol of a section points; `from` is the section that
 * rel lies in.
 */
int64_t reference_target(const struct objsec *from, const struct objrel *rel);
/* The first reference of a section that begins in [at, at + len), NULL if there is none. */
const struct objrel *reference_within(const struct objsec *sec, uint64_t at, uint64_t len);
/*
 * True for a place from which code of the section counts to the GOT. With -mcmodel=large -fPIC a
 * function finds the table by a place of its own, often its start, and the distance from there: so
 * that is no address of a label, nor of the function.
 */
bool reference_begins_got(const struct objsec *sec, int64_t place);

#endif
