/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * data_states.h - what the updates of a process have made of its data, and the one that comes now
 *
 * An update says so by names and numbers (USPL_STATE of uspl/hook.h). Live updates alone count.
 */
#ifndef USPL_APPLY_DATA_STATES_H
#define USPL_APPLY_DATA_STATES_H

#include "record/region.h"
#include "update/update.h"

/*
 * USPL_E_CONFLICT: an update that stays, or goes, has a state with a higher number than the new
 * one's, or one that goes has a state that the new one doesn't know.
 */
int data_states_check(const struct update *update, const region_vec *stay, const region_vec *go,
		      struct uspl_err *err) uspl_must_check;
/* The highest number that these updates have for the name; 0: they don't know it. */
uint32_t data_states_before(const region_vec *stay, const region_vec *go, const char *name);

#endif
