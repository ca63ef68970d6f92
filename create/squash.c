// SPDX-License-Identifier: GPL-3.0-or-later
// squash.c - one update of several, each made on top of those before it

#include "create/squash.h"

#include <string.h>

static bool has(const struct squash *squash, const char *id)
{
	struct update *const *update;

	vec_for_each (&squash->updates, update)
		if (!strcmp((*update)->id, id))
			return true;
	return false;
}

/* What it was made on top of must come before it. */
static int check_order(const struct squash *squash, const struct update *update,
		       struct uspl_err *err)
{
	char *const *after;

	if (has(squash, update->id))
		return uspl_fail(err, USPL_E_USAGE, "the update '%s' is given twice", update->id);
	vec_for_each (&update->after, after) {
		if (has(squash, *after))
			continue;
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "the update '%s' was made on top of '%s', which isn't before it",
			  update->id, *after);
		uspl_hint(err, "give all updates of the stack, the oldest first");
		return -USPL_E_UNSUPPORTED;
	}
	return 0;
}

/* Of a program that both change they must know one build. */
static int check_base(const struct update *older, const struct update *update, struct uspl_err *err)
{
	const struct update_target *a, *b;
	char *const *id;

	vec_for_each (&older->targets, a)
		vec_for_each (&update->targets, b) {
			bool common = !a->build_ids.n || !b->build_ids.n;

			vec_for_each (&a->build_ids, id)
				common |= strvec_has(&b->build_ids, *id);
			if (strcmp(a->path, b->path) || common)
				continue;
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "the updates '%s' and '%s' were made for different builds "
					 "of '%s'",
					 older->id, update->id, a->name);
		}
	return 0;
}

int squash_read(struct squash *squash, char *const *paths, size_t n, struct uspl_err *err)
{
	for (size_t i = 0; i < n; i++) {
		auto_update struct update *update = NULL;
		struct update *const *older, **item;
		int rc = update_read(paths[i], &update, err);

		if (rc)
			return rc;
		rc = check_order(squash, update, err);
		if (rc)
			return rc;
		vec_for_each (&squash->updates, older) {
			rc = check_base(*older, update, err);
			if (rc)
				return rc;
		}
		item = vec_push(&squash->updates);
		if (!item)
			return uspl_fail_nomem(err);
		*item = take_ptr(update);
	}
	return 0;
}

void squash_release(struct squash *squash)
{
	struct update **update;

	vec_for_each (&squash->updates, update)
		update_free(*update);
	vec_release(&squash->updates);
}
