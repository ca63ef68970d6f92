/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_values.h - what the symbols of new code mean in the process that it is brought into
 *
 * ctx is the struct load.
 */
#ifndef USPL_APPLY_LOAD_VALUES_H
#define USPL_APPLY_LOAD_VALUES_H

#include "link/link.h"
#include "apply/load.h"

/*
 * A link_value_fn: a redirected function means its original; everything else that isn't new is
 * looked up among what earlier updates have brought, then in the process (resolve.h).
 */
int load_value(void *ctx, const struct objsym *sym, bool redirected, struct symbol_value *ret,
	       struct uspl_err *err) uspl_must_check;

/* True for a thread-local variable that an earlier update has brought: lent of struct link_wish. */
bool load_is_lent(void *ctx, const struct objsym *sym);

#endif
