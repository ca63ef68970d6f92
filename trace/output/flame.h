/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flame.h - call chains as a flame graph */
#ifndef USPL_TRACE_OUTPUT_FLAME_H
#define USPL_TRACE_OUTPUT_FLAME_H

#include "trace/output/calltree.h"

/*
 * Appends it as SVG: a frame for each chain, as wide as its share of all that was counted, callers
 * below. Frames too narrow to be seen are left out. unit is what was counted: "ns", "samples". Out
 * of memory: out->oom.
 */
void flame_add_svg(const struct calltree *tree, const char *title, const char *unit,
		   struct buf *out);

#endif
