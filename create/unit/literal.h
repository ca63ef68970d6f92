/* SPDX-License-Identifier: GPL-3.0-or-later */
/* literal.h - which literal of a merged section a reference means */
#ifndef USPL_CREATE_UNIT_LITERAL_H
#define USPL_CREATE_UNIT_LITERAL_H

#include "base/types.h"

struct objrel;
struct objsec;
struct objsym;

/* True if a section holds strings that linkers merge. */
bool literal_is_string(const struct objsec *sec);
/* True if a string's last character, a zero as wide as all of them, is at that place of it. */
bool literal_ends_at(const struct objsec *sec, uint64_t at);
/*
 * True if a reference to a merged literal, by the literal's own symbol, leads to a place outside
 * it, or within a string: that symbol says which literal is meant, and stays.
 */
bool literal_is_left(const struct objsec *from, const struct objrel *rel);
/*
 * Where the string begins that a place lies in, behind its first character; `at` itself if it lies
 * in none. Code that has such a place may read backwards from there.
 */
uint64_t literal_begin(const struct objsec *sec, uint64_t at);
/*
 * True, after normalise, for the symbol that a reference is counted from because the literal is not
 * the one that it leads to, or begins before. It has no name that means anything.
 */
bool literal_is_anchor(const struct objsym *sym);

#endif
