// SPDX-License-Identifier: GPL-3.0-or-later
// owned_code.c - code out of line that belongs to functions, where these must be empty
/*
 * A probe ends with a jump back to where its site is, perhaps behind instructions of the program
 * that were moved: no word of the stack says so. A thread in it is in the function that the site is
 * in. Where the site is the function's entry, the function begins behind the link: before that a
 * thread goes wherever the entry leads by then.
 *
 * And a traced function begins in its body. A thread may still be in that when the tracer has gone,
 * or a probe stands before it.
 */

#include "safety/owned_code.h"

#include "safety/safety.h"

/* Adds what is at sites in one of the ranges. */
static int add_at_sites(const struct owners *owners, const struct safety *safety,
			struct safety *more, struct uspl_err *err)
{
	struct owners_code code = { 0 };

	while (owners_next_code(owners, &code)) {
		const struct safety_range *of = safety_range_at(safety, code.site);
		bool at_entry = of && of->entry_ok && of->start == code.site;
		taddr from = at_entry ? code.begins : code.start;
		int rc = of ? safety_add(more, of->name, from, code.end - from, at_entry, err) : 0;

		if (rc)
			return rc;
	}
	return 0;
}

static int add_bodies(const struct owners *owners, const struct safety *safety, struct safety *more,
		      struct uspl_err *err)
{
	const struct safety_range *range;

	vec_for_each (&safety->ranges, range) {
		struct owners_code body;
		int rc;

		if (!owners_body(owners, range->start, &body))
			continue;
		rc = safety_add(more, range->name, body.start, body.end - body.start,
				range->entry_ok, err);
		if (rc)
			return rc;
	}
	return 0;
}

int owned_code_guard(const struct owners *owners, struct safety *safety, struct uspl_err *err)
{
	auto_safety struct safety more = { 0 };
	struct safety_range *range;
	int rc = add_at_sites(owners, safety, &more, err);

	if (rc)
		return rc;
	rc = add_bodies(owners, safety, &more, err);
	if (rc)
		return rc;
	vec_for_each (&more.ranges, range) {
		rc = safety_add(safety, range->name, range->start, range->end - range->start,
				range->entry_ok, err);
		if (rc)
			return rc;
	}
	safety_seal(safety);
	return 0;
}
