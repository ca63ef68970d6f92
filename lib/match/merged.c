// SPDX-License-Identifier: GPL-3.0-or-later
// merged.c - strings and constants that linkers merge, compared by their contents alone

#include <string.h>

#include "match/match_internal.h"

bool merged_compare(struct trial *trial, const struct reference *ref)
{
	const struct objsec *sec = ref->sym->sec;
	uint64_t start = ref->sym->value, len, unit = sec->entsize ? sec->entsize : 1;
	taddr addr = ref->addr - ref->off;
	const uint8_t *run;

	/*
	 * By a symbol of its own the string is known even if the reference is to its middle; by the
	 * section it isn't.
	 */
	if (ref->sym->type == STT_SECTION) {
		start += ref->off;
		addr = ref->addr;
	}
	if (start >= sec->size)
		return trial_fail(trial, "a reference leads outside section '%s'", sec->name);
	if (!(sec->flags & SHF_STRINGS)) {
		len = unit - start % unit;
	} else if (unit == 1) {
		len = strnlen((const char *)sec->data + start, sec->size - start) + 1;
	} else {
		/* Wide strings end with a wide zero. */
		static const uint8_t zero[8];

		if (unit > sizeof(zero))
			return trial_fail(trial, "section '%s' has unknown strings", sec->name);
		for (len = unit; start + len <= sec->size; len += unit)
			if (!memcmp(sec->data + start + len - unit, zero, unit))
				break;
	}
	if (len > sec->size - start)
		len = sec->size - start;
	run = image_bytes(trial->match->image, addr, len);
	return (run && !memcmp(run, sec->data + start, len)) || trial_fail_data(trial, sec, addr);
}
