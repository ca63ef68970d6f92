// SPDX-License-Identifier: GPL-3.0-or-later
// manifest.c - manifest.json: all of an update but its patch and its code
/*
 * The manifest is three kinds of objects within each other: the update, its targets, their
 * functions. For each kind one table says which strings it has, and what they may be. By it they
 * are read, checked and written. A key that no table knows is refused: it says something that this
 * program would have to heed.
 */
#include "update/manifest.h"

#include <string.h>

#include "base/clock.h"
#include "base/strmap.h"
#include "base/text.h"
#include "package/dpkg.h"
#include "update/fields.h"
#include "update/hooked.h"
#include "update/matched.h"
#include "update/stated.h"

#define ARCH "x86_64"

static bool is_any(const char *text)
{
	(void)text;
	return true;
}

static bool is_name(const char *text)
{
	return *text && text_is_utf8(text, strlen(text));
}

/* A file's name without folders. */
static bool is_file_name(const char *text)
{
	return is_name(text) && !strchr(text, '/') && strcmp(text, ".") && strcmp(text, "..");
}

static bool is_time(const char *text)
{
	int64_t ignored;

	return clock_utc_read(text, &ignored);
}

/* clang-format off */
static const struct field update_fields[] = {
	{ "id",          offsetof(struct update, id),          update_id_valid, false },
	{ "description", offsetof(struct update, description), is_any,          false },
	{ "created",     offsetof(struct update, created),     is_time,         false },
	{ "tool",        offsetof(struct update, tool),        is_any,          false },
	{ "package",     offsetof(struct update, package),     is_name,         true },
	{ "version",     offsetof(struct update, version),     is_name,         true },
	{ NULL,          0,                                    NULL,            false },
};

static const struct field target_fields[] = {
	{ "name",     offsetof(struct update_target, name),     is_file_name, false },
	{ "path",     offsetof(struct update_target, path),     is_name,      false },
	{ "soname",   offsetof(struct update_target, soname),   is_file_name, true },
	{ "compiler", offsetof(struct update_target, compiler), is_any,       true },
	{ "producer", offsetof(struct update_target, producer), is_any,       true },
	{ NULL,       0,                                        NULL,         false },
};

static const struct field function_fields[] = {
	{ "name",   offsetof(struct update_function, name),   is_name, false },
	{ "symbol", offsetof(struct update_function, symbol), is_name, false },
	{ "unit",   offsetof(struct update_function, unit),   is_name, false },
	{ "reason", offsetof(struct update_function, reason), is_any,  false },
	{ NULL,     0,                                        NULL,    false },
};

static const struct field upgrade_fields[] = {
	{ "source",   offsetof(struct update_upgrade, source),   dpkg_is_name,    false },
	{ "from",     offsetof(struct update_upgrade, from),     dpkg_is_version, false },
	{ "to",       offsetof(struct update_upgrade, to),       dpkg_is_version, false },
	{ "change",   offsetof(struct update_upgrade, change),   is_name,         true },
	{ "left_out", offsetof(struct update_upgrade, left_out), is_name,         true },
	{ NULL,       0,                                         NULL,            false },
};

/* The keys with other values than strings, or that aren't kept. */
static const char *const update_others[] = { "format",  "arch",     "after", "upgrade",
					     "targets", "replaces", "by_thread",
					     NULL };
static const char *const target_others[] = { "build_ids", "functions", "matched", "hooks",
					     "answers",   "states",    "data",    NULL };
static const char *const no_others[] = { NULL };
/* clang-format on */

/* Reading */

static int read_functions(json_object *array, struct update_target *target, struct uspl_err *err)
{
	auto_strmap struct strmap seen = { 0 };
	int rc = 0;

	for (size_t i = 0; i < json_object_array_length(array); i++) {
		json_object *object = json_object_array_get_idx(array, i);
		struct update_function *function = vec_push(&target->functions);

		rc = function ? fields_check_keys(object, function_fields, no_others, err)
			      : uspl_fail_nomem(err);
		if (rc)
			return rc;
		rc = fields_read(object, function_fields, function, err);
		if (rc)
			return rc;
		if (strmap_get(&seen, function->symbol)) {
			rc = uspl_fail(err, USPL_E_HOSTILE, "the function '%s' is listed twice",
				       function->symbol);
			if (rc)
				return rc;
		} else if (!strmap_set(&seen, function->symbol, function->symbol)) {
			rc = uspl_fail_nomem(err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static int read_target(json_object *object, struct update_target *target, struct uspl_err *err)
{
	json_object *functions;
	int rc = fields_check_keys(object, target_fields, target_others, err);

	if (rc)
		return rc;
	rc = fields_read(object, target_fields, target, err);
	if (rc)
		return rc;
	rc = fields_strings(object, "build_ids", build_id_valid, &target->build_ids, err);
	if (rc)
		return rc;
	rc = fields_get(object, "functions", json_type_array, &functions, err);
	if (rc)
		return rc;
	rc = read_functions(functions, target, err);
	if (rc)
		return rc;
	rc = matched_read(object, target, err);
	if (rc)
		return rc;
	rc = hooked_read(object, target, err);
	if (rc)
		return rc;
	return stated_read(object, target, err);
}

static int read_targets(json_object *array, struct update *update, struct uspl_err *err)
{
	size_t n = json_object_array_length(array);

	if (!n)
		return uspl_fail(err, USPL_E_FILE, "there is no target");
	for (size_t i = 0; i < n; i++) {
		struct update_target *target = vec_push(&update->targets);
		int rc;

		if (!target)
			return uspl_fail_nomem(err);
		rc = read_target(json_object_array_get_idx(array, i), target, err);
		if (rc) {
			uspl_context(err, "target %zu", i);
			return rc;
		}
	}
	return 0;
}

/* Ids of other updates; the key may be missing. */
static int read_ids(json_object *root, const char *key, strvec *ret, struct uspl_err *err)
{
	if (!json_object_object_get_ex(root, key, NULL))
		return 0;
	return fields_strings(root, key, update_id_valid, ret, err);
}

static int read_upgrade(json_object *root, struct update_upgrade *ret, struct uspl_err *err)
{
	json_object *object;
	int rc;

	if (!json_object_object_get_ex(root, "upgrade", &object))
		return 0;
	rc = fields_check_keys(object, upgrade_fields, no_others, err);
	if (!rc)
		rc = fields_read(object, upgrade_fields, ret, err);
	if (rc)
		uspl_context(err, "'upgrade'");
	return rc;
}

/* What decides whether the rest can be understood. */
static int check_format(json_object *root, int64_t *ret_format, struct uspl_err *err)
{
	json_object *value;
	int64_t format;

	if (!json_object_object_get_ex(root, "format", &value) ||
	    !json_object_is_type(value, json_type_int))
		return uspl_fail(err, USPL_E_FILE, "it does not say of which format it is");
	format = json_object_get_int64(value);
	if (format < 1 || format > UPDATE_FORMAT) {
		uspl_fail(err, USPL_E_FORMAT,
			  "it is of format %lld, this program knows formats up to %d",
			  (long long)format, UPDATE_FORMAT);
		if (format > UPDATE_FORMAT)
			uspl_hint(err, "use a newer uspl, or make the update again with this one");
		return -USPL_E_FORMAT;
	}
	if (!json_object_object_get_ex(root, "arch", &value))
		return uspl_fail(err, USPL_E_FILE, "the key 'arch' is missing");
	if (!json_object_is_type(value, json_type_string) ||
	    strcmp(json_object_get_string(value), ARCH))
		return uspl_fail(err, USPL_E_FORMAT,
				 "it is for the processor '%s', not for '" ARCH "'",
				 json_object_get_string(value));
	*ret_format = format;
	return 0;
}

/* What older formats don't have. */
static int check_keys(const struct update *update, int64_t format, struct uspl_err *err)
{
	const struct update_target *target;

	if (format < 4 && (update->package || update->version))
		return uspl_fail(err, USPL_E_FORMAT, "format %d has no key 'package' or 'version'",
				 (int)format);
	if (format < 3 && update->after.n)
		return uspl_fail(err, USPL_E_FORMAT, "format %d has no key 'after'", (int)format);
	if (format < 4 && update->upgrade.source)
		return uspl_fail(err, USPL_E_FORMAT, "format %d has no key 'upgrade'", (int)format);
	if (format < 6 && update->replaces.n)
		return uspl_fail(err, USPL_E_FORMAT, "format %d has no key 'replaces'",
				 (int)format);
	if (format < 7 && update->by_thread)
		return uspl_fail(err, USPL_E_FORMAT, "format %d has no key 'by_thread'",
				 (int)format);
	vec_for_each (&update->targets, target) {
		if (format < 2 && target->matched.n)
			return uspl_fail(err, USPL_E_FORMAT, "format 1 has no key 'matched'");
		if (format < 5 && (target->hooks.n || target->answers.n))
			return uspl_fail(err, USPL_E_FORMAT,
					 "format %d has no keys 'hooks' and 'answers'",
					 (int)format);
		if (format < 6 && (target->states.n || target->data.n))
			return uspl_fail(err, USPL_E_FORMAT,
					 "format %d has no keys 'states' and 'data'", (int)format);
	}
	return 0;
}

/* The key may be missing. Where it is there it says something that not every update can have. */
static int read_by_thread(json_object *root, struct update *update, struct uspl_err *err)
{
	json_object *value;

	if (!json_object_object_get_ex(root, "by_thread", &value))
		return 0;
	if (!json_object_is_type(value, json_type_boolean))
		return uspl_fail(err, USPL_E_FILE, "'by_thread' has a wrong value");
	update->by_thread = json_object_get_boolean(value);
	return 0;
}

static int read_root(json_object *root, struct update *update, struct uspl_err *err)
{
	json_object *targets;
	int64_t format = 0;
	int rc;

	if (!json_object_is_type(root, json_type_object))
		return uspl_fail(err, USPL_E_FILE, "it is not a JSON object");
	rc = check_format(root, &format, err);
	if (rc)
		return rc;
	rc = fields_check_keys(root, update_fields, update_others, err);
	if (rc)
		return rc;
	rc = fields_read(root, update_fields, update, err);
	if (rc)
		return rc;
	rc = read_ids(root, "after", &update->after, err);
	if (rc)
		return rc;
	rc = read_ids(root, "replaces", &update->replaces, err);
	if (rc)
		return rc;
	rc = read_by_thread(root, update, err);
	if (rc)
		return rc;
	rc = read_upgrade(root, &update->upgrade, err);
	if (rc)
		return rc;
	rc = fields_get(root, "targets", json_type_array, &targets, err);
	if (rc)
		return rc;
	rc = read_targets(targets, update, err);
	if (rc)
		return rc;
	if (update->by_thread && (update_has_hooks(update) || update_has_data(update)))
		return uspl_fail(err, USPL_E_FILE, "'by_thread' is said beside hooks or data");
	return check_keys(update, format, err);
}

int manifest_read(const char *text, size_t len, struct update **ret, struct uspl_err *err)
{
	auto_update struct update *update = update_new();
	json_object *root = NULL;
	int rc = update ? fields_parse(text, len, &root, err) : uspl_fail_nomem(err);

	if (!rc)
		rc = read_root(root, update, err);
	json_object_put(root);
	if (rc)
		return rc;
	*ret = take_ptr(update);
	return 0;
}

/* Writing */

static int write_target(struct json *json, const struct update_target *target, struct uspl_err *err)
{
	const struct update_function *function;
	char *const *build_id;
	int rc;

	json_open(json, NULL, '{');
	rc = fields_write(json, target_fields, target, err);
	if (rc)
		return rc;
	vec_for_each (&target->build_ids, build_id)
		if (!build_id_valid(*build_id))
			return uspl_fail(err, USPL_E_UNSUPPORTED, "a build-id cannot be '%s'",
					 *build_id);
	json_strings(json, "build_ids", &target->build_ids);
	json_open(json, "functions", '[');
	vec_for_each (&target->functions, function) {
		json_open(json, NULL, '{');
		rc = fields_write(json, function_fields, function, err);
		if (rc)
			return rc;
		json_close(json, '}');
	}
	json_close(json, ']');
	if (target->matched.n)
		rc = matched_write(json, target, err);
	if (!rc)
		rc = hooked_write(json, target, err);
	if (!rc)
		rc = stated_write(json, target, err);
	json_close(json, '}');
	return rc;
}

/* The oldest one that has all that is in it: older versions of uspl read that. */
static int format_of(const struct update *update)
{
	const struct update_target *target;
	int format = update->replaces.n ? UPDATE_FORMAT_STATES : UPDATE_FORMAT_PLAIN;

	if (update->by_thread)
		return UPDATE_FORMAT;
	vec_for_each (&update->targets, target) {
		if (target->states.n || target->data.n)
			return UPDATE_FORMAT_STATES;
		if ((target->hooks.n || target->answers.n) && format < UPDATE_FORMAT_HOOKS)
			format = UPDATE_FORMAT_HOOKS;
	}
	return format;
}

int manifest_write(const struct update *update, struct buf *buf, struct uspl_err *err)
{
	auto_json struct json json = { .pretty = true };
	const struct update_target *target;
	int rc;

	json_open(&json, NULL, '{');
	json_number(&json, "format", format_of(update));
	json_string(&json, "arch", ARCH);
	rc = fields_write(&json, update_fields, update, err);
	if (rc)
		return rc;
	if (update->after.n)
		json_strings(&json, "after", &update->after);
	if (update->replaces.n)
		json_strings(&json, "replaces", &update->replaces);
	if (update->by_thread)
		json_truth(&json, "by_thread", true);
	if (update->upgrade.source) {
		json_open(&json, "upgrade", '{');
		rc = fields_write(&json, upgrade_fields, &update->upgrade, err);
		if (rc)
			return rc;
		json_close(&json, '}');
	}
	json_open(&json, "targets", '[');
	vec_for_each (&update->targets, target) {
		rc = write_target(&json, target, err);
		if (rc)
			return rc;
	}
	json_close(&json, ']');
	json_close(&json, '}');
	if (json.buf.oom)
		return uspl_fail_nomem(err);
	buf_add(buf, json.buf.data, json.buf.len);
	buf_addstr(buf, "\n");
	return buf->oom ? uspl_fail_nomem(err) : 0;
}
