// SPDX-License-Identifier: GPL-3.0-or-later
// copies.c - copies of sources that the build has made, and compiles
//
// Rules copy sources to build them a second time with other options: the whole tree when they
// configure (squid), or some of them, once (exim4). A clean build of the patched tree would compile
// copies that are patched, too, so that a copy follows its source: then nothing has to be copied
// again. It must be certain of which file it is one; where it isn't, the build has to copy it anew,
// or the patch is found not to be compiled.

#include "create/build/copies.h"

#include <string.h>

#include "base/file.h"
#include "create/build/inputs.h"
#include "create/build/units.h"
#include "create/tree/paths.h"
#include "create/tree/tree.h"

/* The files of the user's tree that have a copy's name, by that. */
struct twins {
	const struct units *units;
	struct strmap by_name; /* a name -> the list of paths in the copy of the tree */
	struct copies *copies;
};

static void lists_release(struct strmap *lists)
{
	for (size_t i = 0; i < lists->cap; i++)
		if (lists->slots[i].key) {
			strvec_release(lists->slots[i].value);
			free(lists->slots[i].value);
		}
	strmap_release(lists);
}

/* Adds a path to the list of that key, which is made if there is none. */
static int add_to_list(struct strmap *lists, const char *key, const char *path,
		       struct uspl_err *err)
{
	strvec *list = strmap_get(lists, key);

	if (!list) {
		list = calloc(1, sizeof(*list));
		if (!list || !strmap_set(lists, key, list)) {
			free(list);
			return uspl_fail_nomem(err);
		}
	}
	return strvec_add(list, path) ? 0 : uspl_fail_nomem(err);
}

/* A file of the user's tree whose name was asked for; its path in our copy of the tree is kept. */
static int note_twin(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	struct twins *twins = ctx;
	const struct build_paths *paths = twins->units->paths;
	auto_free char *ours = NULL;

	(void)st;
	if (!strmap_get(&twins->by_name, file_basename(path)))
		return 0;
	ours = file_join(paths->tree, path + strlen(paths->source) + 1);
	if (!ours)
		return uspl_fail_nomem(err);
	return add_to_list(&twins->by_name, file_basename(path), ours, err);
}

/* The file of the tree that this is a copy of, if there is exactly one. */
static int find_source(const struct twins *twins, const char *copy, uint64_t hash, const char **ret,
		       struct uspl_err *err)
{
	const strvec *list = strmap_get(&twins->by_name, file_basename(copy));
	char *const *path;
	size_t n = 0;

	vec_for_each (list, path) {
		uint64_t other = 0;
		int rc;

		if (access(*path, R_OK) < 0)
			continue;
		rc = input_hash_file(*path, &other, err);
		if (rc)
			return rc;
		if (other != hash)
			continue;
		*ret = *path;
		n++;
	}
	if (n != 1)
		*ret = NULL;
	return 0;
}

static int add_copies(struct twins *twins, struct uspl_err *err)
{
	const struct content *content;

	vec_for_each (&twins->units->contents, content) {
		auto_free char *path = units_made_path(twins->units, content);
		const char *source = NULL;
		int rc;

		if (!path || !tree_is_source(file_basename(path)) ||
		    strmap_get(&twins->copies->all, path))
			continue;
		rc = find_source(twins, path, content->hash, &source, err);
		if (rc)
			return rc;
		if (!source)
			continue;
		rc = add_to_list(&twins->copies->of, source, path, err);
		if (rc)
			return rc;
		if (!strmap_set(&twins->copies->all, path, twins->copies))
			return uspl_fail_nomem(err);
	}
	return 0;
}

int copies_find(const struct units *units, struct copies *ret, struct uspl_err *err)
{
	struct twins twins = { .units = units, .copies = ret };
	const struct content *content;
	int rc = 0;

	vec_for_each (&units->contents, content) {
		auto_free char *path = units_made_path(units, content);

		if (!path || strmap_get(&twins.by_name, file_basename(path)))
			continue;
		/* An empty list: its name is asked for. */
		rc = add_to_list(&twins.by_name, file_basename(path), path, err);
		if (rc)
			break;
		strvec_release(strmap_get(&twins.by_name, file_basename(path)));
	}
	if (!rc && twins.by_name.n)
		rc = tree_walk(units->paths->source, note_twin, &twins, err);
	if (!rc && twins.by_name.n)
		rc = add_copies(&twins, err);
	lists_release(&twins.by_name);
	return rc;
}

void copies_release(struct copies *copies)
{
	lists_release(&copies->of);
	strmap_release(&copies->all);
}

int copies_follow(const struct copies *copies, strvec *patched, struct uspl_err *err)
{
	size_t n = patched->n;

	for (size_t i = 0; i < n; i++) {
		const strvec *list = strmap_get(&copies->of, patched->items[i]);
		auto_buf struct buf text = { 0 };
		char *const *copy;
		int rc;

		if (!list || access(patched->items[i], F_OK) < 0)
			continue;
		rc = file_read(patched->items[i], &text, err);
		if (rc)
			return rc;
		vec_for_each (list, copy) {
			if (access(*copy, F_OK) < 0)
				continue;
			rc = tree_rewrite(*copy, &text, err);
			if (rc)
				return rc;
			if (!strvec_has(patched, *copy) && !strvec_add(patched, *copy))
				return uspl_fail_nomem(err);
		}
	}
	return 0;
}
