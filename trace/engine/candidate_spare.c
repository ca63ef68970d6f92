// SPDX-License-Identifier: GPL-3.0-or-later
// candidate_spare.c - functions whose first bytes an update needs as they are

#include "arch/arch.h"
#include "record/region_entry.h"
#include "trace/engine/candidate.h"

int candidates_spare(const struct proc *proc, candidate_vec *candidates, struct uspl_err *err)
{
	const struct region_site *used_by;
	auto_regions region_vec present = { 0 };
	struct candidate *candidate;
	int rc = regions_read(proc, &present, err);

	if (rc)
		return rc;
	vec_for_each (candidates, candidate) {
		if (rc || candidate->kind == CANDIDATE_NONE ||
		    !region_entry_user(&present, candidate->entry, arch_native()->jump_len,
				       &used_by))
			continue;
		candidate->kind = CANDIDATE_NONE;
		candidate->why = "its first bytes are part of an update's jump";
	}
	return 0;
}
