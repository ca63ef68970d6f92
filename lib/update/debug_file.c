// SPDX-License-Identifier: GPL-3.0-or-later
// debug_file.c - the debugging information of an update's new code, in a file of its own

#include "update/debug_file.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "update/fields.h"
#include "update/parts.h"
#include "update/tarball.h"
#include "update/unpack.h"

#define FORMAT 1
#define ARCH "x86_64"
#define TARBALL_SUFFIX ".tar.gz"

static const char head_part[] = "debug.json", object_file[] = "debug.o";
static const char sources_part[] = "sources/";

static bool is_digest(const char *text)
{
	return strlen(text) == DIGEST_HEX - 1 && strspn(text, "0123456789abcdef") == DIGEST_HEX - 1;
}

static bool is_folder(const char *text)
{
	return *text == '/';
}

/* clang-format off */
static const struct field fields[] = {
	{ "id",     offsetof(struct debug_file, id),     update_id_valid, false },
	{ "update", offsetof(struct debug_file, digest), is_digest,       false },
	{ "tree",   offsetof(struct debug_file, tree),   is_folder,       true },
	{ NULL,     0,                                   NULL,            false },
};
static const char *const others[] = { "format", "arch", NULL };
/* clang-format on */

/* Writing */

static int add_head(const struct debug_file *file, struct parts *parts, struct uspl_err *err)
{
	auto_json struct json json = { .pretty = true };
	int rc;

	json_open(&json, NULL, '{');
	json_number(&json, "format", FORMAT);
	json_string(&json, "arch", ARCH);
	rc = fields_write(&json, fields, file, err);
	if (rc)
		return rc;
	json_close(&json, '}');
	buf_addstr(&json.buf, "\n");
	return parts_add(parts, head_part, &json.buf, err);
}

static int add_target(struct parts *parts, size_t i, struct objfile *debug, struct uspl_err *err)
{
	auto_free char *name = parts_object_name(i, object_file);
	auto_buf struct buf bytes = { 0 };
	int rc = name ? objfile_write(debug, &bytes, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	if (parts_check_room(parts, bytes.len, NULL))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the debugging information has more than %u MiB",
				 PARTS_MAX_BYTES >> 20);
	return parts_add(parts, name, &bytes, err);
}

static int add_source(struct parts *parts, const struct debug_source *source, struct uspl_err *err)
{
	auto_buf struct buf name = { 0 }, text = { 0 };

	buf_addf(&name, "%s%s", sources_part, source->path);
	buf_add(&text, buf_str(&source->text), source->text.len);
	if (name.oom || text.oom)
		return uspl_fail_nomem(err);
	if (parts_check_name(buf_str(&name), NULL) || parts_check_room(parts, text.len, NULL))
		return 0;
	return parts_add(parts, buf_str(&name), &text, err);
}

int debug_file_pack(const struct debug_file *file, const char *created, struct buf *ret,
		    struct uspl_err *err)
{
	auto_parts struct parts parts = { 0 };
	const struct debug_source *source;
	int rc = add_head(file, &parts, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < file->targets.n; i++) {
		rc = add_target(&parts, i, file->targets.items[i], err);
		if (rc)
			return rc;
	}
	vec_for_each (&file->sources, source) {
		rc = add_source(&parts, source, err);
		if (rc)
			return rc;
	}
	return tarball_pack(&parts, file->id, created, ret, err);
}

/* Reading */

static int read_head(struct parts *parts, struct debug_file *file, struct uspl_err *err)
{
	struct part *part = parts_find(parts, head_part);
	json_object *head = NULL, *value;
	int rc;

	if (!part || !part->len)
		return uspl_fail(err, USPL_E_FILE, "it has no '%s'", head_part);
	part->used = true;
	rc = fields_parse(part->data, part->len, &head, err);
	if (rc)
		return rc;
	rc = fields_get(head, "format", json_type_int, &value, err);
	if (!rc && json_object_get_int64(value) != FORMAT)
		rc = uspl_fail(err, USPL_E_FORMAT, "it has format %lld, and this uspl reads %d",
			       (long long)json_object_get_int64(value), FORMAT);
	if (!rc)
		rc = fields_get(head, "arch", json_type_string, &value, err);
	if (!rc && strcmp(json_object_get_string(value), ARCH) != 0)
		rc = uspl_fail(err, USPL_E_FORMAT, "it is for another processor");
	if (!rc)
		rc = fields_check_keys(head, fields, others, err);
	if (!rc)
		rc = fields_read(head, fields, file, err);
	json_object_put(head);
	return rc;
}

/* The objects, from the first on: their numbers have no gap. */
static int read_targets(struct parts *parts, struct debug_file *file, struct uspl_err *err)
{
	for (size_t i = 0;; i++) {
		auto_free char *name = parts_object_name(i, object_file);
		struct part *part = name ? parts_find(parts, name) : NULL;
		struct objfile **obj;
		int rc;

		if (name && !part)
			return 0;
		obj = vec_push(&file->targets);
		if (!name || !obj)
			return uspl_fail_nomem(err);
		part->used = true;
		rc = parts_read_object(part, obj, err);
		if (rc)
			return rc;
	}
}

/* What is left are sources. */
static int read_sources(struct parts *parts, struct debug_file *file, struct uspl_err *err)
{
	const size_t skip = sizeof(sources_part) - 1;
	struct part *part;

	vec_for_each (&parts->items, part) {
		struct debug_source *source;

		if (part->used)
			continue;
		if (strncmp(part->name, sources_part, skip) != 0)
			return uspl_fail(err, USPL_E_FORMAT, "format %d has no part '%s'", FORMAT,
					 part->name);
		source = vec_push(&file->sources);
		if (!source || !(source->path = strdup(part->name + skip)))
			return uspl_fail_nomem(err);
		buf_add(&source->text, part->data, part->len);
		if (source->text.oom)
			return uspl_fail_nomem(err);
	}
	return 0;
}

static int read_all(const struct buf *bytes, struct debug_file *file, struct uspl_err *err)
{
	auto_parts struct parts parts = { 0 };
	int rc = bytes->len ? unpack_apart(bytes->data, bytes->len, &parts, err)
			    : uspl_fail(err, USPL_E_FILE, "it is empty");

	if (!rc)
		rc = read_head(&parts, file, err);
	if (!rc)
		rc = read_targets(&parts, file, err);
	if (!rc)
		rc = read_sources(&parts, file, err);
	return rc;
}

int debug_file_read(const char *path, const char *id, const char *digest, struct debug_file *ret,
		    struct buf *ret_bytes, struct uspl_err *err)
{
	auto_debug_file struct debug_file file = { 0 };
	auto_buf struct buf bytes = { 0 };
	int rc = file_read(path, &bytes, err);

	if (rc)
		return rc;
	rc = read_all(&bytes, &file, err);
	if (rc) {
		uspl_context(err, "'%s'", path);
		return rc;
	}
	if (strcmp(file.id, id) != 0 || strcmp(file.digest, digest) != 0)
		return uspl_fail(err, USPL_E_NO_MATCH, "'%s' belongs to another update", path);
	*ret = file;
	file = (struct debug_file){ 0 };
	if (ret_bytes) {
		*ret_bytes = bytes;
		bytes = (struct buf){ 0 };
	}
	return 0;
}

void debug_file_release(struct debug_file *file)
{
	struct debug_source *source;
	struct objfile **obj;

	vec_for_each (&file->targets, obj)
		objfile_free(*obj);
	vec_release(&file->targets);
	vec_for_each (&file->sources, source) {
		free(source->path);
		buf_release(&source->text);
	}
	vec_release(&file->sources);
	free(file->tree);
	free(file->id);
	free(file->digest);
	*file = (struct debug_file){ 0 };
}

char *debug_file_path(const char *update)
{
	size_t len = strlen(update);
	char *path = NULL;

	if (text_ends_with(update, TARBALL_SUFFIX))
		len -= strlen(TARBALL_SUFFIX);
	return asprintf(&path, "%.*s" DEBUG_FILE_SUFFIX, (int)len, update) < 0 ? NULL : path;
}
