/* SPDX-License-Identifier: GPL-3.0-or-later */
/* places.h - addresses of a process as people write them: functions, lines, variables */
#ifndef USPL_TRACE_TALLY_PLACES_H
#define USPL_TRACE_TALLY_PLACES_H

#include "base/buf.h"
#include "image/image.h"
#include "proc/module.h"
#include "record/region.h"

/* proc and modules must outlive it. */
struct places {
	const struct proc *proc;
	const module_vec *modules;
	VEC(struct image *) images; /* by module, NULL until asked for */
	region_vec regions;         /* of updates, whose code lies in no module */
};

/* Prepares; no image is read yet. places_close must follow. */
int places_open(const struct proc *proc, const module_vec *modules, struct places *ret,
		struct uspl_err *err) uspl_must_check;
void places_close(struct places *places);
/*
 * Appends where a call is, by its return address: "parse (scan.c:12)", "parse+0x1c",
 * "libx.so+0x40".
 */
void places_add_caller(struct places *places, taddr addr, struct buf *out);
/* The same of a function, by its address. */
void places_add_function(struct places *places, taddr addr, struct buf *out);
/* Appends the variable or function at an address, or the address: "queue_lock", "table+0x28". */
void places_add_object(struct places *places, taddr addr, struct buf *out);

#endif
