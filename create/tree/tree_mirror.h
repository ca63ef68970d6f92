/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_mirror.h - makes one folder like another, with as little copying as can be */
#ifndef USPL_CREATE_TREE_TREE_MIRROR_H
#define USPL_CREATE_TREE_TREE_MIRROR_H

#include "base/types.h"

struct uspl_err;

/* Makes the folder `to` like `from`: names, contents, modes and times, links by their text. */
int tree_mirror(const char *from, const char *to, struct uspl_err *err) uspl_must_check;

#endif
