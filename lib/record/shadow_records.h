/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shadow_records.h - the shadow variables of an update, as the process has them (uspl/shadow.h)
 *
 * They are variables among the update's data, and name themselves. A hook of each frees its memory
 * at undo: so the update's record tells how many there are, and whether there is anything to look
 * for.
 */
#ifndef USPL_RECORD_SHADOW_RECORDS_H
#define USPL_RECORD_SHADOW_RECORDS_H

#include "record/region.h"

struct shadow_record {
	char *name;
	uint64_t objects; /* that have it */
	uint64_t size;    /* of an object's data, in bytes */
};

typedef VEC(struct shadow_record) shadow_record_vec;

/*
 * Appends those of a region, in the order of their addresses. What it reads counts against the
 * process's budget (proc_charge). USPL_E_SYSTEM: the memory can't be read.
 */
int shadow_records_read(const struct proc *proc, const struct region *region,
			shadow_record_vec *ret, struct uspl_err *err) uspl_must_check;
void shadow_records_release(shadow_record_vec *records);

#endif
