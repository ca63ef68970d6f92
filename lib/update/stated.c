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

/* Hex digits of 1 to UPDATE_DATUM_MAX bytes; *ret_len is how many, 0 if they are wrong. */
static void read_bytes(const char *text, uint8_t ret[UPDATE_DATUM_MAX], size_t *ret_len)
{
	size_t digits = strspn(text, "0123456789abcdef");

	*ret_len = 0;
	if (text[digits] || digits % 2 || digits > 2 * UPDATE_DATUM_MAX)
		return;
	for (size_t i = 0; i < digits / 2; i++) {
		const char byte[3] = { text[2 * i], text[2 * i + 1], '\0' };

		ret[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	*ret_len = digits / 2;
}

struct datum_text {
	char *symbol, *was, *is;
};

/* clang-format off */
static const struct field datum_fields[] = {
	{ "symbol", offsetof(struct datum_text, symbol), is_symbol, false },
	{ "was",    offsetof(struct datum_text, was),    is_symbol, false },
	{ "is",     offsetof(struct datum_text, is),     is_symbol, false },
	{ NULL,     0,                                   NULL,      false },
};
/* clang-format on */

static int read_datum(json_object *object, struct update_target *target, struct uspl_err *err)
{
	static const char *const no_others[] = { NULL };
	struct update_datum *datum = vec_push(&target->data);
	struct datum_text text = { 0 };
	size_t was = 0, is = 0;
	int rc = datum ? fields_check_keys(object, datum_fields, no_others, err)
		       : uspl_fail_nomem(err);

	if (!rc)
		rc = fields_read(object, datum_fields, &text, err);
	if (!rc) {
		datum->symbol = text.symbol;
		text.symbol = NULL;
		read_bytes(text.was, datum->was, &was);
		read_bytes(text.is, datum->is, &is);
		datum->len = (uint8_t)was;
		if (!was || was != is)
			rc = uspl_fail(err, USPL_E_FILE, "'data' has a wrong value");
	}
	free(text.symbol);
	free(text.was);
	free(text.is);
	return rc;
}

int stated_read(json_object *object, struct update_target *target, struct uspl_err *err)
{
	int rc = fields_each(object, "states", STATES_MAX, target, read_state, err);

	return rc ? rc : fields_each(object, "data", STATES_MAX, target, read_datum, err);
}

static void add_hex(struct json *json, const char *key, const uint8_t *bytes, size_t len)
{
	char text[2 * UPDATE_DATUM_MAX + 1];

	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	json_string(json, key, text);
}

int stated_write(struct json *json, const struct update_target *target, struct uspl_err *err)
{
	const struct update_state *state;
	const struct update_datum *datum;

	if (target->states.n > STATES_MAX || target->data.n > STATES_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "'%s' has more than %d states or initial values", target->name,
				 STATES_MAX);
	if (target->data.n)
		json_open(json, "data", '[');
	vec_for_each (&target->data, datum) {
		json_open(json, NULL, '{');
		json_string(json, "symbol", datum->symbol);
		add_hex(json, "was", datum->was, datum->len);
		add_hex(json, "is", datum->is, datum->len);
		json_close(json, '}');
	}
	if (target->data.n)
		json_close(json, ']');
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
