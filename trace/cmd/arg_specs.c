// SPDX-License-Identifier: GPL-3.0-or-later
// arg_specs.c - whose arguments and results are recorded: the options -A and -R
/*
 * The debugging information says what an argument is and where it is when the function is entered.
 * Without it, arguments are asked for by their numbers, and are words of 8 bytes as the calling
 * convention hands them over; the kind that is given behind a '/' says what to make of them.
 */

#include "trace/cmd/arg_specs.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "image/image_signature.h"
#include "trace/tally/glob.h"

#define RAW_ARGS 6
#define ARG_NUMBER_MAX 64
#define KINDS "duxsf"

static int fail_word(const char *word, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_USAGE, "'%s' can't be understood", word);
	uspl_hint(err, "'-A FUNCTION@arg1,arg2/s,name' or '-R FUNCTION'; kinds behind a '/' are "
		       "d, u, x, s (string), f (floating point)");
	return -USPL_E_USAGE;
}

/* "NAME/KIND": takes the kind off. False if there is one that doesn't exist. */
static bool split_kind(char *text, char *ret_kind)
{
	char *slash = strrchr(text, '/');

	*ret_kind = 0;
	if (!slash)
		return true;
	if (!slash[1] || slash[2] || !strchr(KINDS, slash[1]))
		return false;
	*ret_kind = slash[1];
	*slash = 0;
	return true;
}

static bool parse_value(const char *text, size_t len, struct args_value *value)
{
	char *end;

	if (!len || len >= sizeof(value->name))
		return false;
	memcpy(value->name, text, len);
	value->name[len] = 0;
	if (!split_kind(value->name, &value->kind) || !value->name[0])
		return false;
	if (strncmp(value->name, "arg", 3) != 0 || value->name[3] < '1' || value->name[3] > '9')
		return true;
	value->number = (unsigned)strtoul(value->name + 3, &end, 10);
	return !*end && value->number <= ARG_NUMBER_MAX;
}

static int parse_values(const char *word, const char *list, struct arg_spec *spec,
			struct uspl_err *err)
{
	for (size_t len; *list; list += len + (list[len] == ',')) {
		struct args_value *value = vec_push(&spec->values);

		len = strcspn(list, ",");
		if (!value)
			return uspl_fail_nomem(err);
		if (!parse_value(list, len, value))
			return fail_word(word, err);
	}
	return spec->values.n ? 0 : fail_word(word, err);
}

static int parse(const char *word, bool result, arg_spec_vec *specs, struct uspl_err *err)
{
	struct arg_spec *spec = vec_push(specs);
	const char *at = result ? NULL : strrchr(word, '@');
	struct args_value *value;

	if (!spec)
		return uspl_fail_nomem(err);
	spec->result = result;
	spec->glob = at ? strndup(word, (size_t)(at - word)) : strdup(word);
	if (!spec->glob)
		return uspl_fail_nomem(err);
	if (!spec->glob[0])
		return fail_word(word, err);
	if (at)
		return parse_values(word, at + 1, spec, err);
	if (!result)
		return 0;
	value = vec_push(&spec->values);
	if (!value)
		return uspl_fail_nomem(err);
	return split_kind(spec->glob, &value->kind) ? 0 : fail_word(word, err);
}

int arg_specs_parse(const cli_strings *words, bool result, arg_spec_vec *specs,
		    struct uspl_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < words->n; i++) {
		rc = parse(words->items[i], result, specs, err);
		if (rc)
			return rc;
	}
	return 0;
}

void arg_specs_release(arg_spec_vec *specs)
{
	struct arg_spec *spec;

	vec_for_each (specs, spec) {
		free(spec->glob);
		vec_release(&spec->values);
	}
	vec_release(specs);
}

bool arg_specs_are_wanted(const arg_spec_vec *specs, const char *const *names, size_t n)
{
	const struct arg_spec *spec;

	vec_for_each (specs, spec)
		if (glob_matches_any(spec->glob, names, n))
			return true;
	return false;
}

static void fill(struct listen_plan *plan, const struct image_value *from, char kind,
		 struct uspl_listen_arg *arg)
{
	*arg = (struct uspl_listen_arg){
		.from = from->place.from,
		.index = from->place.index,
		.kind = from->kind,
		.width = from->width,
		.name = listen_add_text(plan, from->name),
		.type = listen_add_text(plan, from->names),
	};
	if (!kind)
		return;
	/* What the user says goes before what the debugging information says. */
	arg->type = 0;
	arg->kind = kind == 'd'   ? USPL_PROBE_SIGNED
		    : kind == 'u' ? USPL_PROBE_UNSIGNED
		    : kind == 's' ? USPL_PROBE_TEXT
		    : kind == 'f' ? USPL_PROBE_FLOAT
				  : USPL_PROBE_POINTER;
	if (kind == 's' || kind == 'x' || !arg->width)
		arg->width = 8;
}

/* An argument of which nothing but its number is known. */
static void fill_raw(struct listen_plan *plan, unsigned number, char kind,
		     struct uspl_listen_arg *arg)
{
	struct call_type types[ARG_NUMBER_MAX];
	struct call_place places[ARG_NUMBER_MAX];
	struct image_value raw = { .kind = USPL_PROBE_POINTER, .width = 8 };
	char name[16];

	/* The n-th argument is the n-th of its sort, as far as is known. */
	for (unsigned i = 0; i < number; i++)
		types[i] = (struct call_type){
			.size = 8, .align = 8, .whole = kind != 'f', .real = kind == 'f'
		};
	arch_native()->call_places(NULL, types, number, places);
	raw.place = places[number - 1];
	fill(plan, &raw, kind, arg);
	snprintf(name, sizeof(name), "arg%u", number);
	arg->name = listen_add_text(plan, name);
}

static const struct image_value *find_value(const struct image_signature *signature,
					    const struct args_value *value)
{
	const struct image_value *arg;

	if (value->number)
		return value->number <= signature->args.n
			       ? &signature->args.items[value->number - 1]
			       : NULL;
	vec_for_each (&signature->args, arg)
		if (arg->name && !strcmp(arg->name, value->name))
			return arg;
	return NULL;
}

static int add_value(struct listen_plan *plan, const struct listen_function *function,
		     const struct image_signature *signature, const struct args_value *value,
		     struct uspl_listen_site *site, struct uspl_err *err)
{
	const char *name = function->n_names ? function->names[0] : "?";
	const struct image_value *from = find_value(signature, value);

	if (!from && signature->known)
		return uspl_fail(err, USPL_E_NO_MODULE, "'%s' has no argument '%s'", name,
				 value->name);
	if (!from && !value->number) {
		uspl_fail(err, USPL_E_NO_MODULE,
			  "of '%s' no argument '%s' is known: there is no debugging information",
			  name, value->name);
		uspl_hint(err, "ask for it by its number: 'arg1', or 'arg1/s' for a string");
		return -USPL_E_NO_MODULE;
	}
	if (site->n_args == USPL_LISTEN_ARGS_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "of a function no more than %d arguments can be recorded",
				 USPL_LISTEN_ARGS_MAX);
	if (from)
		fill(plan, from, value->kind, &site->args[site->n_args++]);
	else
		fill_raw(plan, value->number, value->kind, &site->args[site->n_args++]);
	return 0;
}

static void add_result(struct listen_plan *plan, const struct image_signature *signature, char kind,
		       struct uspl_listen_site *site)
{
	const struct call_type word = { .size = 8, .align = 8, .whole = kind != 'f', .real = 1 };
	struct image_value raw = { .kind = USPL_PROBE_POINTER, .width = 8 };

	raw.place = arch_native()->call_result(&word);
	if (signature->known && !signature->has_result)
		return;
	fill(plan, signature->known ? &signature->result : &raw, kind, &site->result);
	site->has_result = 1;
}

static int add_spec(struct listen_plan *plan, const struct listen_function *function,
		    const struct image_signature *signature, const struct arg_spec *spec,
		    struct uspl_listen_site *site, struct uspl_err *err)
{
	const struct args_value *value;
	size_t n = 0;
	int rc;

	if (spec->result) {
		add_result(plan, signature, spec->values.items[0].kind, site);
		return 0;
	}
	/* All arguments, as many as there is room for. */
	if (!spec->values.n)
		n = signature->known ? signature->args.n : RAW_ARGS;
	for (size_t i = 0; i < n && site->n_args < USPL_LISTEN_ARGS_MAX; i++) {
		struct uspl_listen_arg *arg = &site->args[site->n_args++];

		if (signature->known)
			fill(plan, &signature->args.items[i], 0, arg);
		else
			fill_raw(plan, (unsigned)i + 1, 0, arg);
	}
	vec_for_each (&spec->values, value) {
		rc = add_value(plan, function, signature, value, site, err);
		if (rc)
			return rc;
	}
	return 0;
}

int arg_specs_choose(arg_spec_vec *specs, unsigned text_max, struct listen_plan *plan,
		     const struct listen_function *function, struct uspl_listen_site *site,
		     bool *ret, struct uspl_err *err)
{
	struct image_signature signature = { 0 };
	unsigned room = USPL_LISTEN_VALUES_MAX - 8 * (2 + USPL_LISTEN_ARGS_MAX), n = 0;
	struct arg_spec *spec;
	bool wanted = arg_specs_are_wanted(specs, function->names, function->n_names);
	int rc = wanted ? image_signature_read(function->image, function->candidate->entry,
					       &signature, err)
			: 0;

	vec_for_each (specs, spec) {
		if (rc || !glob_matches_any(spec->glob, function->names, function->n_names))
			continue;
		spec->matched++;
		rc = add_spec(plan, function, &signature, spec, site, err);
	}
	/* Strings share what room the numbers leave in a record. */
	for (size_t i = 0; i < site->n_args; i++)
		n += site->args[i].kind == USPL_PROBE_TEXT;
	if (n && text_max > room / n - 1)
		text_max = room / n - 1;
	for (size_t i = 0; i < site->n_args; i++)
		site->args[i].text_max = (uint16_t)text_max;
	site->result.text_max = (uint16_t)text_max;
	image_signature_release(&signature);
	if (rc)
		return rc;
	*ret |= wanted;
	return 0;
}

int arg_specs_check(const arg_spec_vec *specs, struct uspl_err *err)
{
	const struct arg_spec *spec;

	vec_for_each (specs, spec)
		if (!spec->matched)
			return uspl_fail(err, USPL_E_NO_MODULE,
					 "no function '%s' can be traced whose %s to be recorded",
					 spec->glob, spec->result ? "result is" : "arguments are");
	return 0;
}
