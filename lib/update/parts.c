// SPDX-License-Identifier: GPL-3.0-or-later
// parts.c - the files that an update consists of, in memory, wherever they came from

#include "update/parts.h"

#include <string.h>

#include "base/text.h"
#include "objfile/objfile.h"

/* The limits of docs/update-format.md: later steps may look at all pairs of an object's symbols. */
enum { NAME_MAX_BYTES = 255, OBJECT_MAX = 1 << 18 };

static bool is_dots(const char *component, size_t len)
{
	return (len == 1 && component[0] == '.') || (len == 2 && !memcmp(component, "..", 2));
}

int parts_check_name(const char *name, struct uspl_err *err)
{
	size_t len = strlen(name), n;
	uint32_t c;

	for (size_t i = 0; i < len; i += n) {
		n = text_decode(name + i, len - i, &c);
		if (!n || text_is_control(c))
			return uspl_fail(err, USPL_E_HOSTILE,
					 "an entry's name holds control characters");
	}
	if (len > NAME_MAX_BYTES)
		return uspl_fail(err, USPL_E_HOSTILE, "an entry's name has more than %d bytes",
				 NAME_MAX_BYTES);
	for (const char *p = name;; p += len + 1) {
		len = strcspn(p, "/");
		if (!len || is_dots(p, len))
			return uspl_fail(err, USPL_E_HOSTILE,
					 "the entry '%s' would lie outside of the update's folder",
					 name);
		if (!p[len])
			return 0;
	}
}

int parts_check_room(const struct parts *parts, uint64_t len, struct uspl_err *err)
{
	if (parts->items.n >= PARTS_MAX_ENTRIES)
		return uspl_fail(err, USPL_E_HOSTILE, "it has more than %u entries",
				 PARTS_MAX_ENTRIES);
	if (len > PARTS_MAX_BYTES - parts->bytes)
		return uspl_fail(err, USPL_E_HOSTILE, "its parts have more than %u MiB",
				 PARTS_MAX_BYTES >> 20);
	return 0;
}

int parts_add(struct parts *parts, const char *name, struct buf *data, struct uspl_err *err)
{
	auto_free char *copy = strdup(name);
	struct part *part;
	int rc = parts_check_room(parts, data->len, err);

	if (rc)
		return rc;
	if (parts_find(parts, name))
		return uspl_fail(err, USPL_E_HOSTILE, "it holds '%s' twice", name);
	part = data->oom || !copy ? NULL : vec_push(&parts->items);
	if (!part)
		return uspl_fail_nomem(err);
	part->name = take_ptr(copy);
	part->len = data->len;
	part->data = buf_take(data);
	parts->bytes += part->len;
	return 0;
}

struct part *parts_find(struct parts *parts, const char *name)
{
	struct part *part;

	vec_for_each (&parts->items, part)
		if (!strcmp(part->name, name))
			return part;
	return NULL;
}

/* Numbers are written in one way only. */
char *parts_object_name(size_t target, const char *file)
{
	struct buf name = { 0 };

	buf_addf(&name, "targets/%zu/%s", target, file);
	return buf_take(&name);
}

int parts_read_object(const struct part *part, struct objfile **ret, struct uspl_err *err)
{
	int rc;

	if (!part->len)
		return uspl_fail(err, USPL_E_FILE, "'%s' is empty", part->name);
	rc = objfile_read_memory(part->name, part->data, part->len, ret, err);
	if (rc)
		return rc;
	if ((*ret)->syms.n > OBJECT_MAX || (*ret)->secs.n > OBJECT_MAX)
		return uspl_fail(err, USPL_E_HOSTILE, "'%s' has more than %d symbols or sections",
				 part->name, OBJECT_MAX);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void parts_sort(struct parts *parts)
{
	if (parts->items.n)
		qsort(parts->items.items, parts->items.n, sizeof(*parts->items.items), by_name);
}

void parts_release(struct parts *parts)
{
	struct part *part;

	vec_for_each (&parts->items, part) {
		free(part->name);
		free(part->data);
	}
	vec_release(&parts->items);
	free(parts->folder);
	*parts = (struct parts){ 0 };
}
