/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vet.h - reasons to refuse: what a diff asks for that new code can't bring about in a process */
#ifndef USPL_CREATE_VET_VET_H
#define USPL_CREATE_VET_VET_H

#include "base/types.h"

struct diff;
struct uspl_err;

/*
 * Refuses what must not be put into a running process: first what shows in the objects, then what
 * shows in the differences.
 */
int vet_objects(const struct diff *diff, struct uspl_err *err) uspl_must_check;
int vet_changes(const struct diff *diff, struct uspl_err *err) uspl_must_check;

#endif
