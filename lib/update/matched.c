// SPDX-License-Identifier: GPL-3.0-or-later
// matched.c - where the code of a target lies in builds that were matched ahead

#include "update/matched.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "update/fields.h"

enum { BUILD_ID_MAX = 128 };

bool build_id_valid(const char *text)
{
	size_t len = strspn(text, "0123456789abcdef");

	return len >= 2 && len <= BUILD_ID_MAX && len % 2 == 0 && !text[len];
}

static bool is_path(const char *text)
{
	return *text && text_is_utf8(text, strlen(text));
}

/* clang-format off */
static const struct field match_fields[] = {
	{ "build_id", offsetof(struct update_match, build_id), build_id_valid, false },
	{ "file",     offsetof(struct update_match, file),     is_path,           false },
	{ NULL,       0,                                       NULL,        false },
};
/* clang-format on */
static const char *const match_others[] = { "places", NULL };

/* "0x" and up to 16 digits, as json_address writes it. */
static bool read_address(const char *text, uint64_t *ret)
{
	size_t digits = strncmp(text, "0x", 2) ? 0 : strspn(text + 2, "0123456789abcdef");

	if (!digits || digits > 16 || text[2 + digits])
		return false;
	*ret = strtoull(text + 2, NULL, 16);
	return true;
}

static int read_match(json_object *object, struct update_target *target, struct uspl_err *err)
{
	struct update_match *match = vec_push(&target->matched);
	json_object *places;
	int rc = match ? fields_check_keys(object, match_fields, match_others, err)
		       : uspl_fail_nomem(err);

	if (rc)
		return rc;
	rc = fields_read(object, match_fields, match, err);
	if (rc)
		return rc;
	rc = fields_get(object, "places", json_type_object, &places, err);
	if (rc)
		return rc;
	json_object_object_foreach(places, key, value)
	{
		struct update_place *place = vec_push(&match->places);

		if (!place)
			return uspl_fail_nomem(err);
		place->symbol = strdup(key);
		if (!place->symbol)
			return uspl_fail_nomem(err);
		if (!json_object_is_type(value, json_type_string) ||
		    !read_address(json_object_get_string(value), &place->addr))
			return uspl_fail(err, USPL_E_FILE, "the place of '%s' has a wrong value",
					 key);
	}
	return 0;
}

int matched_read(json_object *object, struct update_target *target, struct uspl_err *err)
{
	json_object *array;
	int rc;

	if (!json_object_object_get_ex(object, "matched", NULL))
		return 0;
	rc = fields_get(object, "matched", json_type_array, &array, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		rc = read_match(json_object_array_get_idx(array, i), target, err);
		if (rc)
			return rc;
	}
	return 0;
}

int matched_write(struct json *json, const struct update_target *target, struct uspl_err *err)
{
	const struct update_match *match;
	const struct update_place *place;

	json_open(json, "matched", '[');
	vec_for_each (&target->matched, match) {
		int rc;

		json_open(json, NULL, '{');
		rc = fields_write(json, match_fields, match, err);
		if (rc)
			return rc;
		json_open(json, "places", '{');
		vec_for_each (&match->places, place)
			json_address(json, place->symbol, place->addr);
		json_close(json, '}');
		json_close(json, '}');
	}
	json_close(json, ']');
	return 0;
}
