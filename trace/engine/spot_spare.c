// SPDX-License-Identifier: GPL-3.0-or-later
// spot_spare.c - functions whose first bytes an update needs as they are

#include "arch/arch.h"
#include "record/region_entry.h"
#include "trace/engine/spot.h"

int spots_spare(const struct proc *proc, spot_vec *spots, struct uspl_err *err)
{
	const struct region_site *used_by;
	region_vec present = { 0 };
	struct spot *spot;
	int rc = regions_read(proc, &present, err);

	vec_for_each (spots, spot) {
		if (rc || spot->kind == SPOT_NONE ||
		    !region_entry_user(&present, spot->entry, arch_native()->jump_len, &used_by))
			continue;
		spot->kind = SPOT_NONE;
		spot->why = "its first bytes are part of an update's jump";
	}
	regions_release(&present);
	return rc;
}
