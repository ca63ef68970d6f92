// SPDX-License-Identifier: GPL-3.0-or-later
// replace.c - the updates of a process whose place a new one takes

#include "apply/replace.h"

#include <string.h>

#include "base/text.h"

static bool is_replaced(const struct update *update, const char *asked, const char *id)
{
	if (!strcmp(update->id, id))
		return false;
	return *asked ? text_has_word(asked, ',', id) : strvec_has(&update->replaces, id);
}

int replace_check(const char *asked, struct uspl_err *err)
{
	size_t word;

	for (const char *at = asked ? asked : ""; *at; at += word + (at[word] == ',')) {
		char id[USPL_ID_MAX];

		word = strcspn(at, ",");
		snprintf(id, sizeof(id), "%.*s", (int)word, at);
		if (word < sizeof(id) && update_id_valid(id) && (!at[word] || at[word + 1]))
			continue;
		uspl_fail(err, USPL_E_USAGE, "'--replace=%s' is not a list of updates' ids", asked);
		uspl_hint(err, "'uspl-view' lists the updates that are applied");
		return -USPL_E_USAGE;
	}
	return 0;
}

/* One that stays can't stand on one that goes. */
static int check_not_built_on(const region_vec *regions, const char *id, struct uspl_err *err)
{
	const struct region *region;

	vec_for_each (regions, region) {
		if (!region_is_live(region) || !region_builds_on(region, id))
			continue;
		uspl_fail(err, USPL_E_CONFLICT,
			  "the update '%s' builds on '%s', and isn't one that is replaced",
			  region->id, id);
		uspl_hint(err, "undo '%s' first, or make an update that replaces both", region->id);
		return -USPL_E_CONFLICT;
	}
	return 0;
}

int replace_take(const struct update *update, const char *asked, region_vec *regions,
		 region_vec *ret, struct buf *ret_ids, struct uspl_err *err)
{
	const struct region *gone;
	size_t kept = 0;
	int rc = 0;

	if (!*asked && !update->replaces.n) {
		uspl_fail(err, USPL_E_USAGE,
			  "the update '%s' doesn't say which updates it replaces", update->id);
		uspl_hint(err, "name them: '--replace=ID,ID'");
		return -USPL_E_USAGE;
	}
	for (size_t i = 0; i < regions->n; i++) {
		struct region *region = &regions->items[i], *item = NULL;

		if (!rc && region_is_live(region) && is_replaced(update, asked, region->id)) {
			item = vec_push(ret);
			/* The parts of an update follow each other in no certain order. */
			if (!text_has_word(buf_str(ret_ids), ' ', region->id))
				buf_addf(ret_ids, "%s%s", ret_ids->len ? " " : "", region->id);
			if (!item || ret_ids->oom)
				rc = uspl_fail_nomem(err);
		}
		if (item)
			*item = *region;
		else
			regions->items[kept++] = *region;
	}
	regions->n = kept;
	if (rc)
		return rc;
	vec_for_each (ret, gone) {
		rc = check_not_built_on(regions, gone->id, err);
		if (rc)
			return rc;
	}
	return 0;
}

int replace_forget_pending(const struct proc *proc, const struct update *update, const char *asked,
			   region_vec *regions, struct uspl_err *err)
{
	struct region *region;

	vec_for_each (regions, region) {
		int rc;

		if (region_is_live(region) || !region_is_wanted(region) ||
		    !is_replaced(update, asked, region->id))
			continue;
		rc = region_write_retired(proc, region, err);
		if (rc)
			return rc;
	}
	return 0;
}
