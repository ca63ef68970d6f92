// SPDX-License-Identifier: GPL-3.0-or-later
// fields.c - the strings of a manifest's objects, by tables

#include "update/fields.h"

#include <string.h>

#include "update/update.h"

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
