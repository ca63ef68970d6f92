/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shadow_maps.h - where the shadows of a process' stacks lie */
#ifndef USPL_TRACE_ENGINE_SHADOW_MAPS_H
#define USPL_TRACE_ENGINE_SHADOW_MAPS_H

#include "base/types.h"
#include "uspl/mark_abi.h"

struct proc;
struct uspl_err;
struct uspl_trace_region;

/* False for a shadow of markers, whose slots have no names (USPL_TRACE_NAME). */
static inline bool shadow_has_names(uint64_t shadow)
{
	return !shadow ||
	       (shadow & ~((uint64_t)USPL_MARK_SHADOW_MASK << USPL_MARK_SHADOW_SHIFT)) != 0;
}

/*
 * Of n choices of bits in which a session's shadow may differ (struct uspl_trace_region), the one
 * with which the shadows of the fewest stacks would lie where something is mapped; the first of
 * several.
 */
uint64_t shadow_maps_choose(const struct proc *proc, const uint64_t *choices, size_t n);
/*
 * Gives the stacks that are known by now their shadows, for a process that may not map memory
 * itself; head has the tables. As far as there is room: what is left out is counted when it is
 * used.
 */
int shadow_maps_map_known(struct proc *proc, const struct uspl_trace_region *head,
			  struct uspl_err *err) uspl_must_check;

#endif
