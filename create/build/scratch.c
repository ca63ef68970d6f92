// SPDX-License-Identifier: GPL-3.0-or-later
// scratch.c - folders with random names that tools of the build make for themselves and remove
//
// go and rustc compile and link in such folders: what is in one has another path in each build, in
// the names of objects and sources, and in options. In the records it gets a name that is the same
// every time: '*' stands for the random part. Several of a kind share it then; objects in them that
// have one name are told apart by their sources (find_shared in units_collect.c).

#include "create/build/scratch.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"

enum { ALL_DIGITS = 0 }; /* the rest of the name is digits, however many */

/* clang-format off */
static const struct kind {
	const char *start; /* of the name */
	size_t chance;     /* how many characters follow */
} kinds[] = {
	{ "/go-build", ALL_DIGITS }, { "/go-link-", ALL_DIGITS },
	{ "/rustc", 6 },             { "/tmp.", 10 }, /* mktemp(1) */
};
/* clang-format on */

/*
 * What stands for the folder's own name, at `at` of its path: the name itself if the folder is
 * there.
 */
static const char *stand_in(struct scratch *scratch, const struct kind *kind, const char *start,
			    const char *at, size_t len)
{
	auto_free char *path = strndup(start, (size_t)(at - start) + len);
	const char *known = path ? strmap_get(&scratch->names, path) : NULL;
	char *name = NULL;

	if (known || !path)
		return known;
	name = access(path, F_OK) == 0 ? strndup(at, len) : text_format("%s*", kind->start);
	if (name && strmap_set(&scratch->names, path, name))
		return name;
	free(name);
	return NULL;
}

static int rename_kind(struct scratch *scratch, const struct kind *kind, char **text,
		       struct uspl_err *err)
{
	auto_buf struct buf out = { 0 };
	const char *from = *text;

	for (const char *at = from; (at = strstr(at, kind->start)) != NULL;) {
		const char *name, *start = at, *rest = at + strlen(kind->start);
		size_t chance =
			kind->chance == ALL_DIGITS ? strspn(rest, "0123456789") : kind->chance;
		size_t len = (size_t)(rest - at) + chance;

		/* It isn't a folder's name of this kind. */
		if (!chance || strcspn(rest, "/ \t\n=:,'\"") != chance) {
			at++;
			continue;
		}
		/* Where the path begins that goes on with the folder. */
		for (const char *p = at; p > *text && !strchr(" \t\n=:,'\"", p[-1]); p--)
			if (p[-1] == '/')
				start = p - 1;
		name = stand_in(scratch, kind, start, at, len);
		if (!name)
			return uspl_fail_nomem(err);
		buf_add(&out, from, (size_t)(at - from));
		buf_addstr(&out, name);
		at += len;
		from = at;
	}
	if (from == *text)
		return 0;
	buf_addstr(&out, from);
	if (out.oom)
		return uspl_fail_nomem(err);
	free(*text);
	*text = buf_take(&out);
	return 0;
}

int scratch_rename(struct scratch *scratch, char **text, struct uspl_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		rc = rename_kind(scratch, &kinds[i], text, err);
		if (rc)
			return rc;
	}
	return 0;
}

void scratch_release(struct scratch *scratch)
{
	for (size_t i = 0; i < scratch->names.cap; i++)
		if (scratch->names.slots[i].key)
			free(scratch->names.slots[i].value);
	strmap_release(&scratch->names);
}
