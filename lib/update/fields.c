// SPDX-License-Identifier: GPL-3.0-or-later
// fields.c - the strings of a manifest's objects, by tables

#include "update/fields.h"

#include <string.h>

#include "base/text.h"
#include "update/manifest.h"
#include "update/update.h"

/* Nesting that a manifest needs: update, targets, target, functions, function, value. */
enum { DEPTH_MAX = 8 };
/* Of containers and of all values. */
enum { CONTAINERS_MAX = 500000, VALUES_MAX = 1000000 };

/*
 * As text a value takes two bytes, and in json-c's memory up to 400: how many there can be is
 * counted before they are made, by what stands in front of each.
 */
static bool has_too_many(const char *text, size_t len)
{
	size_t containers = 0, values = 0;

	for (size_t i = 0; i < len; i++) {
		bool opens = text[i] == '[' || text[i] == '{';

		containers += opens;
		values += opens || text[i] == ',';
	}
	return containers > CONTAINERS_MAX || values > VALUES_MAX;
}

/*
 * The text with escapes for all that isn't ASCII. json-c 0.18, when it is strict, takes such bytes
 * for control characters, since they are negative. False if the text isn't UTF-8, where json-c
 * would let overlong forms through, or has a NUL, at which it would stop.
 */
static bool to_ascii(const char *text, size_t len, struct buf *ret)
{
	bool escaped = false;
	uint32_t c;

	for (size_t i = 0, n; i < len; i += n) {
		n = text_decode(text + i, len - i, &c);
		if (!n || !c || (c >= 0x80 && escaped))
			return false;
		escaped = c == '\\' && !escaped;
		if (c < 0x80)
			buf_add(ret, text + i, 1);
		else if (c < 0x10000)
			buf_addf(ret, "\\u%04x", c);
		else
			buf_addf(ret, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
	}
	return true;
}

int fields_parse(const char *text, size_t len, json_object **ret, struct uspl_err *err)
{
	auto_buf struct buf ascii = { 0 };
	struct json_tokener *tokener;
	json_object *root;
	bool good;

	if (len > MANIFEST_MAX_BYTES)
		return uspl_fail(err, USPL_E_HOSTILE, "it has more than %u MiB",
				 MANIFEST_MAX_BYTES >> 20);
	if (has_too_many(text, len))
		return uspl_fail(err, USPL_E_HOSTILE, "it has more than %d values", VALUES_MAX);
	if (!to_ascii(text, len, &ascii))
		return uspl_fail(err, USPL_E_FILE, "it is not valid JSON");
	tokener = json_tokener_new_ex(DEPTH_MAX);
	if (!tokener || ascii.oom) {
		json_tokener_free(tokener);
		return uspl_fail_nomem(err);
	}
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	root = json_tokener_parse_ex(tokener, buf_str(&ascii), (int)ascii.len);
	good = json_tokener_get_error(tokener) == json_tokener_success;
	json_tokener_free(tokener);
	if (good) {
		*ret = root;
		return 0;
	}
	json_object_put(root);
	return uspl_fail(err, USPL_E_FILE, "it is not valid JSON");
}

static bool is_known(const char *key, const struct field *fields, const char *const *others)
{
	for (; fields->key; fields++)
		if (!strcmp(fields->key, key))
			return true;
	for (; *others; others++)
		if (!strcmp(*others, key))
			return true;
	return false;
}

int fields_check_keys(json_object *object, const struct field *fields, const char *const *others,
		      struct uspl_err *err)
{
	if (!json_object_is_type(object, json_type_object))
		return uspl_fail(err, USPL_E_FILE, "a value is not an object");
	json_object_object_foreach(object, key, value)
	{
		(void)value;
		if (!is_known(key, fields, others))
			return uspl_fail(err, USPL_E_FORMAT, "format %d has no key '%s'",
					 UPDATE_FORMAT, key);
	}
	return 0;
}

int fields_copy_string(json_object *value, char **ret, struct uspl_err *err)
{
	const char *text;

	if (!json_object_is_type(value, json_type_string))
		return 0;
	text = json_object_get_string(value);
	if (strlen(text) != (size_t)json_object_get_string_len(value))
		return 0;
	*ret = strdup(text);
	return *ret ? 0 : uspl_fail_nomem(err);
}

int fields_read(json_object *object, const struct field *fields, void *record, struct uspl_err *err)
{
	for (; fields->key; fields++) {
		char **place = (char **)((char *)record + fields->offset);
		json_object *value;
		int rc;

		if (!json_object_object_get_ex(object, fields->key, &value)) {
			if (fields->optional)
				continue;
			return uspl_fail(err, USPL_E_FILE, "the key '%s' is missing", fields->key);
		}
		rc = fields_copy_string(value, place, err);
		if (rc)
			return rc;
		if (!*place || !fields->valid(*place))
			return uspl_fail(err, USPL_E_FILE, "'%s' has a wrong value", fields->key);
	}
	return 0;
}

int fields_strings(json_object *object, const char *key, bool (*valid)(const char *text),
		   strvec *ret, struct uspl_err *err)
{
	json_object *array;
	int rc = fields_get(object, key, json_type_array, &array, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		char *text = NULL;

		rc = fields_copy_string(json_object_array_get_idx(array, i), &text, err);
		if (rc)
			return rc;
		if (!text || !valid(text)) {
			free(text);
			return uspl_fail(err, USPL_E_FILE, "'%s' has a wrong value", key);
		}
		if (!strvec_take(ret, text))
			return uspl_fail_nomem(err);
	}
	return 0;
}

int fields_get(json_object *object, const char *key, enum json_type type, json_object **ret,
	       struct uspl_err *err)
{
	if (!json_object_object_get_ex(object, key, ret))
		return uspl_fail(err, USPL_E_FILE, "the key '%s' is missing", key);
	if (!json_object_is_type(*ret, type))
		return uspl_fail(err, USPL_E_FILE, "'%s' has a wrong value", key);
	return 0;
}

int fields_write(struct json *json, const struct field *fields, const void *record,
		 struct uspl_err *err)
{
	for (; fields->key; fields++) {
		const char *value = *(char *const *)((const char *)record + fields->offset);

		if (!value && fields->optional)
			continue;
		if (!value || !fields->valid(value))
			return uspl_fail(err, USPL_E_UNSUPPORTED, "an update's '%s' cannot be '%s'",
					 fields->key, value ? value : "");
		json_string(json, fields->key, value);
	}
	return 0;
}

int fields_each(json_object *object, const char *key, size_t most, struct update_target *target,
		int (*read_one)(json_object *, struct update_target *, struct uspl_err *),
		struct uspl_err *err)
{
	json_object *array;
	int rc;

	if (!json_object_object_get_ex(object, key, NULL))
		return 0;
	rc = fields_get(object, key, json_type_array, &array, err);
	if (rc)
		return rc;
	if (json_object_array_length(array) > most)
		return uspl_fail(err, USPL_E_HOSTILE, "'%s' has more than %zu values", key, most);
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		rc = read_one(json_object_array_get_idx(array, i), target, err);
		if (rc)
			return rc;
	}
	return 0;
}
