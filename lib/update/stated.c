// SPDX-License-Identifier: GPL-3.0-or-later
// stated.c - the states of an update: in its manifest, and as text in the records of processes

#include "update/stated.h"

#include <string.h>

#include "update/fields.h"

/* Together they have to fit into a record. */
enum { STATES_MAX = 48 };

/* Letters, digits and underscores. */
static bool is_identifier(const char *text)
{
	size_t len =
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	return len && !text[len] && len < STATED_NAME_SIZE;
}

static bool is_symbol(const char *text)
{
	return *text;
}

/* clang-format off */
static const struct field state_fields[] = {
	{ "name",   offsetof(struct update_state, name),   is_identifier, false },
	{ "symbol", offsetof(struct update_state, symbol), is_symbol,     true },
	{ NULL,     0,                                     NULL,          false },
};
/* clang-format on */
static const char *const state_others[] = { "number", NULL };

static int read_state(json_object *object, struct update_target *target, struct uspl_err *err)
{
	struct update_state *state = vec_push(&target->states);
	json_object *number;
	int64_t value;
	int rc = state ? fields_check_keys(object, state_fields, state_others, err)
		       : uspl_fail_nomem(err);

	if (rc)
		return rc;
	rc = fields_read(object, state_fields, state, err);
	if (rc)
		return rc;
	rc = fields_get(object, "number", json_type_int, &number, err);
	if (rc)
		return rc;
	value = json_object_get_int64(number);
	if (value < 1 || value > STATED_NUMBER_MAX)
		return uspl_fail(err, USPL_E_FILE, "'number' has a wrong value");
	state->number = (uint32_t)value;
	return 0;
}

int stated_read(json_object *object, struct update_target *target, struct uspl_err *err)
{
	json_object *array;
	int rc;

	if (!json_object_object_get_ex(object, "states", NULL))
		return 0;
	rc = fields_get(object, "states", json_type_array, &array, err);
	if (rc)
		return rc;
	if (json_object_array_length(array) > STATES_MAX)
		return uspl_fail(err, USPL_E_HOSTILE, "'states' has more than %d values",
				 STATES_MAX);
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		rc = read_state(json_object_array_get_idx(array, i), target, err);
		if (rc)
			return rc;
	}
	return 0;
}

int stated_write(struct json *json, const struct update_target *target, struct uspl_err *err)
{
	const struct update_state *state;

	if (target->states.n > STATES_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "'%s' has more than %d states",
				 target->name, STATES_MAX);
	if (!target->states.n)
		return 0;
	json_open(json, "states", '[');
	vec_for_each (&target->states, state) {
		int rc;

		json_open(json, NULL, '{');
		rc = fields_write(json, state_fields, state, err);
		if (rc)
			return rc;
		json_number(json, "number", state->number);
		json_close(json, '}');
	}
	json_close(json, ']');
	return 0;
}

int stated_check(const struct update_target *target, struct uspl_err *err)
{
	const struct update_state *state;

	vec_for_each (&target->states, state) {
		const struct objsym *sym =
			state->symbol ? objfile_symbol(target->new_code, state->symbol) : NULL;
		bool is_variable = sym && sym->sec && sym->sec->flags & SHF_WRITE &&
				   !(sym->sec->flags & SHF_TLS) && sym->size == sizeof(uint32_t);

		if (state->symbol && !is_variable)
			return uspl_fail(err, USPL_E_FILE, "'%s' of the state '%s' is no number",
					 state->symbol, state->name);
	}
	return 0;
}

uint32_t stated_number(const struct update *update, const char *name)
{
	const struct update_target *target;
	const struct update_state *state;
	uint32_t number = 0;

	vec_for_each (&update->targets, target)
		vec_for_each (&target->states, state)
			if (!strcmp(state->name, name) && state->number > number)
				number = state->number;
	return number;
}

/* Has an earlier target, or state of the same, that name? */
static bool is_repeated(const struct update *update, const struct update_state *state)
{
	const struct update_target *target;
	const struct update_state *other;

	vec_for_each (&update->targets, target)
		vec_for_each (&target->states, other) {
			if (other == state)
				return false;
			if (!strcmp(other->name, state->name))
				return true;
		}
	return false;
}

void stated_text(const struct update *update, struct buf *ret)
{
	const struct update_target *target;
	const struct update_state *state;

	vec_for_each (&update->targets, target)
		vec_for_each (&target->states, state)
			if (!is_repeated(update, state))
				buf_addf(ret, "%s%s=%u", ret->len ? " " : "", state->name,
					 stated_number(update, state->name));
}

bool stated_next(const char **at, char *name, uint32_t *ret_number)
{
	const char *text = *at;
	size_t len = strcspn(text, "="), word = strcspn(text, " ");

	if (!*text || len >= word || len >= STATED_NAME_SIZE)
		return false;
	snprintf(name, STATED_NAME_SIZE, "%.*s", (int)len, text);
	*ret_number = (uint32_t)strtoul(text + len + 1, NULL, 10);
	*at = text + word + (text[word] == ' ');
	return true;
}
