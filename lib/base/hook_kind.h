/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hook_kind.h - the kinds of hooks (uspl/hook.h), and what each may do */
#ifndef USPL_BASE_HOOK_KIND_H
#define USPL_BASE_HOOK_KIND_H

#include "base/types.h"
#include "uspl/hook.h"

/* "pre_apply"; "?" for what is no kind. */
const char *hook_kind_name(enum uspl_hook_kind kind);
/* USPL_HOOK_NONE if no kind has that name. */
enum uspl_hook_kind hook_kind_find(const char *name);
/* True if its result counts: anything else than 0 refuses. */
bool hook_kind_asks(enum uspl_hook_kind kind);
/* True if it runs while all threads stand still. */
bool hook_kind_is_still(enum uspl_hook_kind kind);
/* True if it runs before the functions are switched: a call of one comes to the old code. */
bool hook_kind_is_before(enum uspl_hook_kind kind);
/* True if several run in the opposite order of sources and lines. */
bool hook_kind_is_reverse(enum uspl_hook_kind kind);

#endif
