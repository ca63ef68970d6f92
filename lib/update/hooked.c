// SPDX-License-Identifier: GPL-3.0-or-later
// hooked.c - the hooks of a target in the manifest, and what they answer

#include "update/hooked.h"

#include <string.h>

#include "base/hook_kind.h"
#include "base/text.h"
#include "update/fields.h"

/* More than any patch has; a process's record holds them all. */
enum { HOOKS_MAX = 1024 };

static bool is_word(const char *text)
{
	return *text && text_is_utf8(text, strlen(text));
}

/* clang-format off */
static const struct field hook_fields[] = {
	{ "name",   offsetof(struct update_hook, name),   is_word, false },
	{ "symbol", offsetof(struct update_hook, symbol), is_word, false },
	{ "unit",   offsetof(struct update_hook, unit),   is_word, false },
	{ NULL,     0,                                    NULL,    false },
};
/* clang-format on */
static const char *const hook_others[] = { "kind", NULL };

static int read_hook(json_object *object, struct update_target *target, struct uspl_err *err)
{
	struct update_hook *hook = vec_push(&target->hooks);
	json_object *kind;
	int rc = hook ? fields_check_keys(object, hook_fields, hook_others, err)
		      : uspl_fail_nomem(err);

	if (rc)
		return rc;
	rc = fields_read(object, hook_fields, hook, err);
	if (rc)
		return rc;
	rc = fields_get(object, "kind", json_type_string, &kind, err);
	if (rc)
		return rc;
	hook->kind = hook_kind_find(json_object_get_string(kind));
	return hook->kind ? 0 : uspl_fail(err, USPL_E_FILE, "'kind' has a wrong value");
}

static int read_answer(json_object *value, struct update_target *target, struct uspl_err *err)
{
	char **answer = vec_push(&target->answers);
	int rc = answer ? fields_copy_string(value, answer, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	return *answer && is_word(*answer)
		       ? 0
		       : uspl_fail(err, USPL_E_FILE, "'answers' has a wrong value");
}

int hooked_read(json_object *object, struct update_target *target, struct uspl_err *err)
{
	int rc = fields_each(object, "hooks", HOOKS_MAX, target, read_hook, err);

	return rc ? rc : fields_each(object, "answers", HOOKS_MAX, target, read_answer, err);
}

int hooked_write(struct json *json, const struct update_target *target, struct uspl_err *err)
{
	const struct update_hook *hook;

	if (target->hooks.n > HOOKS_MAX || target->answers.n > HOOKS_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "'%s' has more than %d hooks",
				 target->name, HOOKS_MAX);
	if (target->hooks.n)
		json_open(json, "hooks", '[');
	vec_for_each (&target->hooks, hook) {
		int rc;

		json_open(json, NULL, '{');
		json_string(json, "kind", hook_kind_name(hook->kind));
		rc = fields_write(json, hook_fields, hook, err);
		if (rc)
			return rc;
		json_close(json, '}');
	}
	if (target->hooks.n)
		json_close(json, ']');
	if (target->answers.n)
		json_strings(json, "answers", &target->answers);
	return 0;
}

int hooked_check(const struct update_target *target, struct uspl_err *err)
{
	const struct update_function *function;
	const struct update_hook *hook;

	vec_for_each (&target->hooks, hook) {
		const struct objsym *sym = objfile_symbol(target->new_code, hook->symbol);

		if (!sym || !sym->sec || !objsec_is_code(sym->sec))
			return uspl_fail(err, USPL_E_FILE, "the hook '%s' is no function of %s",
					 hook->symbol, target->new_code->name);
		vec_for_each (&target->functions, function)
			if (!strcmp(function->symbol, hook->symbol))
				return uspl_fail(err, USPL_E_FILE,
						 "the hook '%s' is a function of the program",
						 hook->symbol);
	}
	return 0;
}
