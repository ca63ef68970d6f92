// SPDX-License-Identifier: GPL-3.0-or-later
// shadow_records.c - the shadow variables of an update, as the process has them

#include "record/shadow_records.h"

#include <string.h>

#include "uspl/shadow.h"

/* The hook's name, without the variable's (USPL_SHADOW). */
static const char hook_prefix[] = "uspl_shadow_end_";

enum { PIECE = 64 << 10 };

/* Takes what lies at `at` if it is one: it says so itself, with its own address. */
static int add_if_shadow(taddr at, const uint8_t *bytes, shadow_record_vec *ret,
			 struct uspl_err *err)
{
	struct uspl_shadow shadow;
	struct shadow_record *record;

	memcpy(&shadow, bytes, offsetof(struct uspl_shadow, construct));
	if (shadow.magic != USPL_SHADOW_MAGIC || (uintptr_t)shadow.self != at ||
	    shadow.version != USPL_SHADOW_VERSION)
		return 0;
	record = vec_push(ret);
	if (!record)
		return uspl_fail_nomem(err);
	*record = (struct shadow_record){
		.name = strndup(shadow.name, sizeof(shadow.name)),
		.objects = shadow.count,
		.size = shadow.size,
	};
	return record->name ? 0 : uspl_fail_nomem(err);
}

int shadow_records_read(const struct proc *proc, const struct region *region,
			shadow_record_vec *ret, struct uspl_err *err)
{
	const size_t head = offsetof(struct uspl_shadow, construct);
	const struct region_hook *hook;
	auto_free uint8_t *piece = NULL;
	size_t want = ret->n;

	vec_for_each (&region->hooks, hook)
		want += !strncmp(hook->name, hook_prefix, sizeof(hook_prefix) - 1);
	if (want == ret->n)
		return 0;
	piece = malloc(PIECE);
	if (!piece)
		return uspl_fail_nomem(err);
	/* Pieces overlap, so that each variable lies in one of them as a whole. */
	for (uint64_t at = 0; at + head <= region->data_len && ret->n < want;) {
		uint64_t left = region->data_len - at;
		size_t len = left < PIECE ? left : PIECE, end = (len - head + 8) & ~7ul;
		int rc = proc_charge(proc, len / sizeof(uint64_t), len, err);

		if (rc)
			return rc;
		rc = proc_read(proc, region->data + at, piece, len, err);
		if (rc)
			return rc;
		for (size_t i = 0; i < end && ret->n < want; i += sizeof(uint64_t)) {
			rc = add_if_shadow(region->data + at + i, piece + i, ret, err);
			if (rc)
				return rc;
		}
		at += end;
	}
	return 0;
}

void shadow_records_release(shadow_record_vec *records)
{
	struct shadow_record *record;

	vec_for_each (records, record)
		free(record->name);
	vec_release(records);
}
