/* SPDX-License-Identifier: GPL-3.0-or-later */
/* language.h - is a file of a diff in a language of which no code is compared? */
#ifndef USPL_CREATE_PATCH_LANGUAGE_H
#define USPL_CREATE_PATCH_LANGUAGE_H

struct uspl_err;

/*
 * To be asked when a build has made code that no compiler was seen to make: if the diff changes a
 * file in Go, Rust, D, Fortran or their like, the hint of the refusal names it instead.
 */
void language_say(const char *diff, struct uspl_err *err);

#endif
