/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fields.h - the strings of a manifest's objects, by tables
 *
 * A table says which strings an object has, where they are kept in the struct that stands for it,
 * and what they may be. By it they are read, checked and written.
 */
#ifndef USPL_UPDATE_FIELDS_H
#define USPL_UPDATE_FIELDS_H

#include <json-c/json.h>

#include "base/error.h"
#include "base/json.h"
#include "base/strvec.h"

struct update_target;

/* A table of these ends with one whose key is NULL. */
struct field {
	const char *key;
	size_t offset; /* of a char * in the struct */
	bool (*valid)(const char *text);
	bool optional; /* NULL stands for a key that is missing */
};

/*
 * Reads a text as JSON, in bounds: of MANIFEST_MAX_BYTES, and so many values and levels as a
 * manifest needs. The caller frees it by json_object_put. USPL_E_FILE: it isn't JSON;
 * USPL_E_HOSTILE: it is larger.
 */
int fields_parse(const char *text, size_t len, json_object **ret,
		 struct uspl_err *err) uspl_must_check;
/*
 * Refuses what isn't an object, and an object with a key that is neither in the table nor among the
 * others (ended by NULL): it says something that this program would have to heed.
 */
int fields_check_keys(json_object *object, const struct field *fields, const char *const *others,
		      struct uspl_err *err) uspl_must_check;
/* Fills in the strings of record, which are copies. */
int fields_read(json_object *object, const struct field *fields, void *record,
		struct uspl_err *err) uspl_must_check;
/* Writes the strings of record; refuses what fields_read would. */
int fields_write(struct json *json, const struct field *fields, const void *record,
		 struct uspl_err *err) uspl_must_check;

/* A copy of a string value. *ret stays as it is if it isn't one, or holds a NUL. */
int fields_copy_string(json_object *value, char **ret, struct uspl_err *err) uspl_must_check;
/* Adds the strings of an array, which must be there. USPL_E_FILE: one of them isn't valid. */
int fields_strings(json_object *object, const char *key, bool (*valid)(const char *text),
		   strvec *ret, struct uspl_err *err) uspl_must_check;
/* The value of a key that must be there and of this type. */
int fields_get(json_object *object, const char *key, enum json_type type, json_object **ret,
	       struct uspl_err *err) uspl_must_check;
/*
 * Calls read_one for each value of an array that may be missing, until one fails. USPL_E_FILE: it
 * is no array; USPL_E_HOSTILE: it has more than most values.
 */
int fields_each(json_object *object, const char *key, size_t most, struct update_target *target,
		int (*read_one)(json_object *value, struct update_target *target,
				struct uspl_err *err),
		struct uspl_err *err) uspl_must_check;

#endif
