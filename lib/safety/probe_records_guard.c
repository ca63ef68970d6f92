// SPDX-License-Identifier: GPL-3.0-or-later
// probe_records_guard.c - code out of line that belongs to functions, where these must be empty
/*
 * A probe ends with a jump back to where its site is, perhaps behind instructions of the program
 * that were moved: no word of the stack says so. A thread in it is in the function that the site is
 * in. Where it is the function's entry, the function begins behind the link: before that a thread
 * goes wherever the entry leads by then.
 *
 * And a traced function begins in its body, in which a thread may still be when the tracer has
 * gone, or a probe stands before it.
 */

#include "safety/marked_guard.h"

#include "safety/safety.h"

/* The code of a probe at a site in that range. */
static int add_probe(struct safety *more, const struct safety_range *of,
		     const struct uspl_probe *probe, struct uspl_err *err)
{
	bool at_entry = of->entry_ok && of->start == probe->site;
	taddr from = at_entry ? probe->end : probe->code;

	return safety_add(more, of->name, from, probe->code + probe->code_len - from, at_entry,
			  err);
}

static int add_probes(const struct marks *marks, const struct safety *safety, struct safety *more,
		      struct uspl_err *err)
{
	const struct mark_region *region;
	const struct uspl_probe *probe;
	int rc = 0;

	vec_for_each (&marks->regions, region)
		vec_for_each (&region->probes, probe) {
			const struct safety_range *of = safety_range_at(safety, probe->site);

			if (!rc && of)
				rc = add_probe(more, of, probe, err);
		}
	return rc;
}

static int add_bodies(const struct marks *marks, const struct safety *safety, struct safety *more,
		      struct uspl_err *err)
{
	const struct safety_range *range;
	int rc = 0;

	vec_for_each (&safety->ranges, range) {
		const struct uspl_trace_site *traced =
			trace_session_site_at(&marks->traced, range->start);

		if (!rc && traced)
			rc = safety_add(more, range->name, traced->body, traced->body_len,
					range->entry_ok, err);
	}
	return rc;
}

int marks_guard(const struct marks *marks, struct safety *safety, struct uspl_err *err)
{
	struct safety more = { 0 };
	struct safety_range *range;
	int rc = add_probes(marks, safety, &more, err);

	if (!rc)
		rc = add_bodies(marks, safety, &more, err);
	vec_for_each (&more.ranges, range)
		rc = rc ? rc
			: safety_add(safety, range->name, range->start, range->end - range->start,
				     range->entry_ok, err);
	safety_release(&more);
	safety_seal(safety);
	return rc;
}
