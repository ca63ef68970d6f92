// SPDX-License-Identifier: GPL-3.0-or-later
// updates.c - the updates that a command line names, in the order in which they are applied

#include "machine/updates.h"

#include <string.h>

int updates_pick(char **words, int n, update_paths *ret_paths, int *ret_rest, struct uspl_err *err)
{
	int rest = 0;

	for (int i = 0; i < n; i++) {
		const char **path;

		if (i && !update_is_path(words[i])) {
			words[rest++] = words[i];
			continue;
		}
		path = vec_push(ret_paths);
		if (!path)
			return uspl_fail_nomem(err);
		*path = words[i];
	}
	*ret_rest = rest;
	return 0;
}

/* The first one from there on that was made on top of none of the others; n if there is none. */
static size_t find_next(const update_vec *updates, size_t from)
{
	for (size_t i = from; i < updates->n; i++) {
		bool is_free = true;

		for (size_t k = from; k < updates->n; k++)
			is_free &= k == i ||
				   !strvec_has(&updates->items[i]->after, updates->items[k]->id);
		if (is_free)
			return i;
	}
	return updates->n;
}

/* Moves item i of an array to a place before it. */
#define MOVE_TO(items, i, to)                                                                      \
	do {                                                                                       \
		__typeof__(*(items)) moved_ = (items)[i];                                          \
                                                                                                   \
		memmove(&(items)[(to) + 1], &(items)[to], ((i) - (to)) * sizeof(moved_));          \
		(items)[to] = moved_;                                                              \
	} while (0)

static int sort(update_paths *paths, update_vec *updates, struct uspl_err *err)
{
	for (size_t at = 0; at < updates->n; at++) {
		size_t next = find_next(updates, at);

		if (next == updates->n)
			return uspl_fail(err, USPL_E_USAGE,
					 "the updates '%s' and '%s' were made on top of each other",
					 updates->items[at]->id, updates->items[at + 1]->id);
		MOVE_TO(updates->items, next, at);
		MOVE_TO(paths->items, next, at);
	}
	return 0;
}

int updates_read(update_paths *paths, const struct signature_terms *terms, update_vec *ret,
		 struct uspl_err *err)
{
	const char **path;
	int rc;

	vec_for_each (paths, path) {
		struct update **update = vec_push(ret);

		if (!update)
			return uspl_fail_nomem(err);
		rc = update_read_signed(*path, terms, update, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < ret->n; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(ret->items[i]->id, ret->items[k]->id))
				return uspl_fail(err, USPL_E_USAGE, "two updates have the id '%s'",
						 ret->items[i]->id);
	return sort(paths, ret, err);
}

int updates_wanted(const wanted_vec *wanted, const struct signature_terms *terms, const char *prog,
		   update_paths *paths, update_vec *ret, struct uspl_err *err)
{
	const struct wanted_update *it;

	vec_for_each (wanted, it) {
		struct uspl_err why = { 0 };
		struct update *update, **item;
		const char **path;
		int rc = wanted_load(it, terms, &update, &why);

		if (rc == -USPL_E_NOMEM || rc == -USPL_E_CANCELLED) {
			*err = why;
			return rc;
		}
		if (rc) {
			uspl_err_print(stderr, prog, &why);
			continue;
		}
		item = vec_push(ret);
		if (!item) {
			update_free(update);
			return uspl_fail_nomem(err);
		}
		*item = update;
		path = vec_push(paths);
		if (!path)
			return uspl_fail_nomem(err);
		*path = it->path;
	}
	return sort(paths, ret, err);
}

void updates_release(update_vec *updates)
{
	struct update **update;

	vec_for_each (updates, update)
		update_free(*update);
	vec_release(updates);
}
