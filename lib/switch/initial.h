/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * initial.h - initial values that an update changes (struct uspl_region_datum)
 *
 * They change at a standstill, with the functions that read them.
 */
#ifndef USPL_SWITCH_INITIAL_H
#define USPL_SWITCH_INITIAL_H

#include "switch/transition.h"

/* True if one of the regions that are switched has such values: then a standstill is needed. */
bool initial_any(const struct transition *t);
/*
 * USPL_E_CONFLICT: a variable has another value than it had at first, or than a replaced update has
 * given it.
 */
int initial_check(const struct transition *t, struct uspl_err *err) uspl_must_check;
/*
 * At the standstill, after another check, once the records say that the switch goes on: the
 * replaced updates' variables get their old values back, then the new update's their new ones. On
 * failure none has changed.
 */
int initial_switch(const struct transition *t, struct uspl_err *err) uspl_must_check;
/* Takes that back, where the entries couldn't be written. */
void initial_restore(const struct transition *t);

#endif
