// SPDX-License-Identifier: GPL-3.0-or-later
// marker_function.c - the entries of functions, taken for markers

#include <fnmatch.h>
#include <string.h>

#include "arch/arch.h"
#include "tracing/marker.h"
#include "tracing/spot.h"

/* Where a function's first whole-number arguments are: System V ABI for x86-64, 3.2.3. */
static const char *const places[] = { "%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9" };

static int add_args(struct marker *marker, struct uspl_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < ARRAY_SIZE(places); i++) {
		const char *text = places[i];

		rc = place_parse(&text, &marker->args[i].place, err);
		marker->args[i].kind = USPL_PROBE_UNSIGNED;
	}
	marker->n_args = ARRAY_SIZE(places);
	return rc;
}

/* The whole instructions that the jump takes the place of: as many as the tracer would move. */
static bool measure(const struct image *image, const struct spot *spot, struct marker *marker)
{
	const uint8_t *code = image_bytes(image, spot->entry, USPL_MARK_OLD_MAX);
	struct insn insn;
	size_t n = 0;

	while (code && n < arch_native()->jump_len) {
		if (!arch_native()->insn_decode(code + n, USPL_MARK_OLD_MAX - n, &insn))
			return false;
		n += insn.len;
	}
	if (!code || n > spot->len)
		return false;
	memcpy(marker->old, code, n);
	marker->old_len = (uint8_t)n;
	marker->guard = spot->guard < n ? spot->guard : (uint8_t)n;
	return true;
}

static int add(const struct image *image, const struct spot *spot, struct markers *markers,
	       struct uspl_err *err)
{
	struct marker *marker = vec_push(&markers->sites);

	if (!marker)
		return uspl_fail_nomem(err);
	marker->site = spot->entry;
	marker->name = strdup(spot->name);
	if (!marker->name)
		return uspl_fail_nomem(err);
	if (spot->kind == SPOT_NONE)
		snprintf(marker->why, sizeof(marker->why), "%s", spot->why);
	else if (!measure(image, spot, marker))
		snprintf(marker->why, sizeof(marker->why), "its first instructions can't be moved");
	return add_args(marker, err);
}

int markers_add_functions(const struct image *image, const char *glob, struct markers *markers,
			  struct uspl_err *err)
{
	const struct spot *spot;
	spot_vec spots = { 0 };
	int rc = spots_find(image, &spots, err);

	vec_for_each (&spots, spot)
		if (!rc && spot->name && !fnmatch(glob, spot->name, 0))
			rc = add(image, spot, markers, err);
	vec_release(&spots);
	return rc;
}
