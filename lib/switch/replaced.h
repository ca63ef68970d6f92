/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replaced.h - updates whose place another one takes, in the same switch
 *
 * The new update is made from what the program was without them. Each of their entries becomes the
 * new update's or, where that leaves the function alone, what it was before the oldest of them. Two
 * things follow for the records (struct uspl_region_more in uspl/abi.h):
 *
 *  - until the switch, a site of the new update has for its old bytes the jump of the newest
 *    replaced one, since that is what a failure puts back; afterwards those of before the oldest;
 *  - the records of all change in an order that tells the next command, whatever dies when, what is
 *    left to do: as long as the new update's says SWITCHING_ON and a replaced one's APPLIED the
 *    switch may be half done, and is completed.
 *
 * And one for the new update's trampolines: each has the jump of the newest replaced update for
 * what was at the entry. So none may be in use when the records follow, and the new update can't
 * go off by way of them (trampoline_is_other).
 */
#ifndef USPL_SWITCH_REPLACED_H
#define USPL_SWITCH_REPLACED_H

#include "switch/transition.h"
#include "text/site.h"

/* Adds the entries that the new update leaves alone, which get back what they had. */
int replaced_add_sites(const struct transition *t, struct site_plan *plan,
		       struct uspl_err *err) uspl_must_check;
/*
 * USPL_E_UNSUPPORTED if there is such an entry: the new update has no trampoline there by which
 * threads could be led both ways.
 */
int replaced_refuse_back(const struct transition *t, struct uspl_err *err) uspl_must_check;
/*
 * After the switch: the new update's sites get the old bytes of before the replaced ones, these are
 * UNDONE, and the new one is APPLIED, in this order. USPL_E_SYSTEM, with all left as it is, if an
 * entry still leads by way of its trampoline.
 */
int replaced_settle(const struct transition *t, struct uspl_err *err) uspl_must_check;

/* True if the update's record says that it takes the place of one that is still in effect. */
bool replaced_any(const region_vec *regions, const char *id);
/*
 * The live regions of the updates whose place the update `id` takes, by its records, oldest first.
 * ret has room for regions->n. Returns how many there are.
 */
size_t replaced_find(region_vec *regions, const char *id, struct region **ret);

#endif
