/* SPDX-License-Identifier: GPL-3.0-or-later */
/* coverage.h - programs that are built to count what runs in them */
#ifndef USPL_CREATE_COVERAGE_H
#define USPL_CREATE_COVERAGE_H

#include "base/error.h"
#include "base/types.h"

/*
 * Does the code of an object count how often each part of it runs (--coverage, -fprofile-generate)?
 * Its counters are variables, whose number changes with the code. Compilers set that up for each
 * object by itself; builds ask for it in all objects of a program.
 */
int coverage_find(const char *object, bool *ret, struct uspl_err *err) uspl_must_check;

#endif
