// SPDX-License-Identifier: GPL-3.0-or-later
// marker_function.c - the entries of functions, or their returns, taken for markers

#include <fnmatch.h>
#include <string.h>

#include "arch/arch.h"
#include "base/demangle.h"
#include "trace/engine/candidate.h"
#include "trace/probe/marker.h"

/* The whole instructions that the jump takes the place of: as many as the tracer would move. */
static bool measure(const struct image *image, const struct candidate *candidate,
		    struct marker *marker)
{
	const uint8_t *code = image_bytes(image, candidate->entry, USPL_MARK_OLD_MAX);
	struct insn insn;
	size_t n = 0;

	while (code && n < arch_native()->jump_len) {
		if (!arch_native()->insn_decode(code + n, USPL_MARK_OLD_MAX - n, &insn))
			return false;
		n += insn.len;
	}
	if (!code || n > candidate->len)
		return false;
	memcpy(marker->old, code, n);
	marker->old_len = (uint8_t)n;
	marker->guard = candidate->guard < n ? candidate->guard : (uint8_t)n;
	return true;
}

static int add(const struct image *image, const struct candidate *candidate, const char *name,
	       bool returns, struct markers *markers, struct uspl_err *err)
{
	struct marker *marker = vec_push(&markers->sites);

	if (!marker)
		return uspl_fail_nomem(err);
	marker->site = candidate->entry;
	marker->function = true;
	marker->at_return = returns;
	marker->name = strdup(name);
	if (!marker->name)
		return uspl_fail_nomem(err);
	if (candidate->kind == CANDIDATE_NONE)
		snprintf(marker->why, sizeof(marker->why), "%s", candidate->why);
	else if (!measure(image, candidate, marker))
		snprintf(marker->why, sizeof(marker->why), "its first instructions can't be moved");
	else if (returns && candidate->entry_only)
		snprintf(marker->why, sizeof(marker->why),
			 "it returns twice, looks at its caller, or has no call frame information");
	return marker_set_args(image, marker, err);
}

int markers_add_functions(const struct proc *proc, const struct image *image, const char *glob,
			  bool returns, struct markers *markers, struct uspl_err *err)
{
	const struct candidate *candidate;
	auto_vec candidate_vec candidates = { 0 };
	int rc = candidates_find(image, &candidates, err);

	if (rc)
		return rc;
	rc = candidates_spare(proc, &candidates, err);
	if (rc)
		return rc;
	vec_for_each (&candidates, candidate) {
		auto_buf struct buf name = { 0 };

		if (!candidate->name)
			continue;
		buf_addf(&name, "%.*s%s", (int)demangle_stem_len(candidate->name), candidate->name,
			 returns ? ":exit" : "");
		if (name.oom)
			return uspl_fail_nomem(err);
		if (fnmatch(glob, buf_str(&name), 0))
			continue;
		rc = add(image, candidate, buf_str(&name), returns, markers, err);
		if (rc)
			return rc;
	}
	return 0;
}
