// SPDX-License-Identifier: GPL-3.0-or-later
// data_states.c - what the updates of a process have made of its data, and the one that comes now

#include "apply/data_states.h"

#include <string.h>

#include "update/stated.h"

static int check(const struct update *update, const region_vec *regions, bool must_know,
		 struct uspl_err *err)
{
	const struct region *region;

	vec_for_each (regions, region) {
		const char *at = region->states ? region->states : "";
		char name[STATED_NAME_SIZE];
		uint32_t theirs, ours;

		while (region_is_live(region) && stated_next(&at, name, &theirs)) {
			ours = stated_number(update, name);
			if (ours >= theirs || (!ours && !must_know))
				continue;
			if (ours)
				uspl_fail(err, USPL_E_CONFLICT,
					  "the update '%s' has left the state '%s' with the number "
					  "%u, and '%s' only knows it with %u",
					  region->id, name, theirs, update->id, ours);
			else
				uspl_fail(err, USPL_E_CONFLICT,
					  "the update '%s' has the state '%s', which '%s' doesn't "
					  "know, whose place it takes",
					  region->id, name, update->id);
			uspl_hint(err, "undo '%s' first, or make an update that goes on from there",
				  region->id);
			return -USPL_E_CONFLICT;
		}
	}
	return 0;
}

int data_states_check(const struct update *update, const region_vec *stay, const region_vec *go,
		      struct uspl_err *err)
{
	int rc = check(update, stay, false, err);

	if (rc)
		return rc;
	return check(update, go, true, err);
}

static uint32_t highest(const region_vec *regions, const char *wanted)
{
	const struct region *region;
	uint32_t most = 0;

	vec_for_each (regions, region) {
		const char *at = region->states ? region->states : "";
		char name[STATED_NAME_SIZE];
		uint32_t number;

		while (region_is_live(region) && stated_next(&at, name, &number))
			if (number > most && !strcmp(name, wanted))
				most = number;
	}
	return most;
}

uint32_t data_states_before(const region_vec *stay, const region_vec *go, const char *name)
{
	uint32_t a = highest(stay, name), b = highest(go, name);

	return a > b ? a : b;
}
