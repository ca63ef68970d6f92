// SPDX-License-Identifier: GPL-3.0-or-later
// index.c - what a folder of updates of packages has, for machines that fetch from it

#include "update/index.h"

#include <inttypes.h>
#include <string.h>

#include "base/strmap.h"
#include "base/text.h"
#include "package/dpkg.h"
#include "update/fields.h"
#include "update/matched.h"
#include "update/parts.h"

/* A name that is the same in a folder and at the end of a URL. */
static bool is_file(const char *text)
{
	return *text && *text != '.' && text_ends_with(text, ".tar.gz") &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
		       strlen(text);
}

static bool is_digest(const char *text)
{
	return strlen(text) == DIGEST_HEX - 1 && strspn(text, "0123456789abcdef") == DIGEST_HEX - 1;
}

static bool is_name(const char *text)
{
	return *text && text_is_utf8(text, strlen(text));
}

#define UPGRADE(member) offsetof(struct index_entry, upgrade.member)

/* clang-format off */
static const struct field entry_fields[] = {
	{ "file",     offsetof(struct index_entry, file),   is_file,         false },
	{ "sha256",   offsetof(struct index_entry, sha256), is_digest,       false },
	{ "id",       offsetof(struct index_entry, id),     update_id_valid, false },
	{ "source",   UPGRADE(source),                      dpkg_is_name,    false },
	{ "from",     UPGRADE(from),                        dpkg_is_version, false },
	{ "to",       UPGRADE(to),                          dpkg_is_version, false },
	{ "change",   UPGRADE(change),                      is_name,         true },
	{ "left_out", UPGRADE(left_out),                    is_name,         true },
	{ NULL,       0,                                    NULL,            false },
};
/* clang-format on */

static const struct field no_fields[] = { { NULL, 0, NULL, false } };
static const char *const entry_others[] = { "size", "signature", "build_ids", NULL };
static const char *const index_others[] = { "format", "updates", NULL };

/* A copy of what may be NULL; false when out of memory. */
static bool copy(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return *ret || !text;
}

int index_entry_fill(const struct update *update, struct index_entry *ret, struct uspl_err *err)
{
	const struct update_upgrade *upgrade = &update->upgrade;
	const struct update_target *target;
	char *const *build_id;

	if (!copy(update->id, &ret->id) || !copy(upgrade->source, &ret->upgrade.source) ||
	    !copy(upgrade->from, &ret->upgrade.from) || !copy(upgrade->to, &ret->upgrade.to) ||
	    !copy(upgrade->change, &ret->upgrade.change) ||
	    !copy(upgrade->left_out, &ret->upgrade.left_out))
		return uspl_fail_nomem(err);
	vec_for_each (&update->targets, target)
		vec_for_each (&target->build_ids, build_id)
			if (!strvec_add(&ret->build_ids, *build_id))
				return uspl_fail_nomem(err);
	return 0;
}

void index_entry_release(struct index_entry *entry)
{
	strvec_release(&entry->build_ids);
	free(entry->file);
	free(entry->id);
	free(entry->sha256);
	free(entry->upgrade.source);
	free(entry->upgrade.from);
	free(entry->upgrade.to);
	free(entry->upgrade.change);
	free(entry->upgrade.left_out);
}

void index_release(index_entries *entries)
{
	struct index_entry *entry;

	vec_for_each (entries, entry)
		index_entry_release(entry);
	vec_release(entries);
}

/* ---- reading ---- */

static int read_entry(json_object *object, struct index_entry *entry, struct uspl_err *err)
{
	json_object *size, *signature;
	int rc = fields_check_keys(object, entry_fields, entry_others, err);

	if (rc)
		return rc;
	rc = fields_read(object, entry_fields, entry, err);
	if (rc)
		return rc;
	rc = fields_get(object, "size", json_type_int, &size, err);
	if (rc)
		return rc;
	rc = fields_get(object, "signature", json_type_boolean, &signature, err);
	if (rc)
		return rc;
	if (json_object_get_int64(size) <= 0 || json_object_get_int64(size) > PARTS_MAX_BYTES)
		return uspl_fail(err, USPL_E_FILE, "'size' has a wrong value");
	entry->size = (uint64_t)json_object_get_int64(size);
	entry->has_signature = json_object_get_boolean(signature);
	return fields_strings(object, "build_ids", build_id_valid, &entry->build_ids, err);
}

static int read_root(json_object *root, index_entries *ret, struct uspl_err *err)
{
	auto_strmap struct strmap seen = { 0 };
	json_object *format, *updates;
	int rc;

	if (!json_object_is_type(root, json_type_object))
		return uspl_fail(err, USPL_E_FILE, "it is not a JSON object");
	rc = fields_get(root, "format", json_type_int, &format, err);
	if (rc)
		return rc;
	if (json_object_get_int64(format) != INDEX_FORMAT) {
		uspl_fail(err, USPL_E_FORMAT,
			  "it is of format %lld, and this program knows format %d",
			  (long long)json_object_get_int64(format), INDEX_FORMAT);
		uspl_hint(err, "use a newer uspl, or make the index again with this one");
		return -USPL_E_FORMAT;
	}
	rc = fields_check_keys(root, no_fields, index_others, err);
	if (rc)
		return rc;
	rc = fields_get(root, "updates", json_type_array, &updates, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < json_object_array_length(updates); i++) {
		struct index_entry *entry = vec_push(ret);

		rc = entry ? read_entry(json_object_array_get_idx(updates, i), entry, err)
			   : uspl_fail_nomem(err);
		if (rc) {
			uspl_context(err, "update %zu", i);
			return rc;
		}
		if (strmap_get(&seen, entry->file))
			return uspl_fail(err, USPL_E_HOSTILE, "'%s' is listed twice", entry->file);
		if (!strmap_set(&seen, entry->file, entry->file))
			return uspl_fail_nomem(err);
	}
	return 0;
}

int index_read(const char *text, size_t len, index_entries *ret, struct uspl_err *err)
{
	json_object *root = NULL;
	int rc = fields_parse(text, len, &root, err);

	if (!rc)
		rc = read_root(root, ret, err);
	json_object_put(root);
	return rc;
}

/* ---- writing ---- */

int index_write(const index_entries *entries, struct buf *ret, struct uspl_err *err)
{
	auto_json struct json json = { 0 };
	const struct index_entry *entry;

	json_open(&json, NULL, '{');
	json_number(&json, "format", INDEX_FORMAT);
	json_open(&json, "updates", '[');
	vec_for_each (entries, entry) {
		int rc;

		json_open(&json, NULL, '{');
		rc = fields_write(&json, entry_fields, entry, err);
		if (rc)
			return rc;
		json_number(&json, "size", (int64_t)entry->size);
		json_truth(&json, "signature", entry->has_signature);
		json_strings(&json, "build_ids", &entry->build_ids);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
	buf_addf(ret, "%s\n", json_text(&json));
	return json.buf.oom || ret->oom ? uspl_fail_nomem(err) : 0;
}
