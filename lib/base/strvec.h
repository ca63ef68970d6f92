/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * strvec.h - a list of strings that it owns
 *
 *     auto_strvec strvec names = { 0 };
 *     if (!strvec_add(&names, name))
 *             return uspl_fail_nomem(err);
 *     vec_for_each (&names, it) ...
 */
#ifndef USPL_BASE_STRVEC_H
#define USPL_BASE_STRVEC_H

#include "base/cleanup.h"
#include "base/types.h"
#include "base/vec.h"

typedef VEC(char *) strvec;

/* Adds a copy of text. False when out of memory. */
bool strvec_add(strvec *strings, const char *text) uspl_must_check;
/*
 * Adds text itself, which is the list's from then on. False when out of memory, or if text is NULL,
 * as a function that makes strings returns then; text is freed.
 */
bool strvec_take(strvec *strings, char *text) uspl_must_check;
/* Is one of them equal to text? */
bool strvec_has(const strvec *strings, const char *text);
/* Frees all of them. The list is empty and usable afterwards. */
void strvec_release(strvec *strings);
DEFINE_AUTO_RELEASE(strvec, strvec, strvec_release)
#define auto_strvec __attribute__((cleanup(cleanup_strvec_)))

#endif
