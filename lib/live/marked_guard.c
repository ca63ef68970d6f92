// SPDX-License-Identifier: GPL-3.0-or-later
// marked_guard.c - the code of probes, where what it belongs to must be empty
/*
 * A probe ends with a jump back to where its site is, perhaps behind instructions of the program that were moved: no word of the stack says so. A thread in
 * it is in the function that the site is in.
 */

#include "live/marked.h"
#include "live/safety.h"

int marks_guard(const struct marks *marks, struct safety *safety, struct uspl_err *err)
{
	const struct mark_region *region;
	const struct uspl_probe *probe;
	struct safety more = { 0 };
	struct safety_range *range;
	int rc = 0;

	vec_for_each (&marks->regions, region)
		vec_for_each (&region->probes, probe) {
			const struct safety_range *of = safety_range_at(safety, probe->site);

			if (!rc && of)
				rc = safety_add(&more, of->name, probe->code, probe->code_len,
						false, err);
		}
	vec_for_each (&more.ranges, range)
		rc = rc ? rc
			: safety_add(safety, range->name, range->start, range->end - range->start,
				     false, err);
	safety_release(&more);
	safety_seal(safety);
	return rc;
}
