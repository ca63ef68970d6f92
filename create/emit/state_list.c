// SPDX-License-Identifier: GPL-3.0-or-later
// state_list.c - what a patch says of the program's data: texts "1:NAME:NUMBER" in a section

#include "create/emit/state_list.h"

#include <string.h>

#include "base/cleanup.h"
#include "create/unit/answer.h"
#include "create/unit/unit.h"
#include "update/stated.h"

/* The symbol of the variable that the loader writes, if new code has it. Allocated, or NULL. */
static int find_symbol(const struct unit *unit, const struct update_target *target,
		       struct update_state *state, struct uspl_err *err)
{
	auto_free char *name = NULL;

	if (asprintf(&name, "uspl_state_before_%s_%u", state->name, state->number) < 0)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i], *there;

		if (strcmp(sym->name, name) || !syminfo_of(sym)->refname)
			continue;
		there = objfile_symbol(target->new_code, syminfo_of(sym)->refname);
		if (!there || !there->sec)
			continue;
		state->symbol = strdup(syminfo_of(sym)->refname);
		return state->symbol ? 0 : uspl_fail_nomem(err);
	}
	return 0;
}

static bool has(const struct objfile *obj, const char *text)
{
	const struct objsec *sec = objfile_section(obj, USPL_STATE_SECTION);
	const char *there;
	uint64_t at = 0;

	while (sec && (there = answer_next_text(sec, &at)) != NULL)
		if (!strcmp(there, text))
			return true;
	return false;
}

static int add(const struct unit *unit, const char *text, struct update_target *target,
	       struct uspl_err *err)
{
	const struct update_state *older;
	struct update_state *state, read = { 0 };
	char *end = NULL;
	const char *colon = strncmp(text, "1:", 2) ? NULL : strchr(text + 2, ':');
	unsigned long number = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (!number || *end || number > STATED_NUMBER_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "%s: a state is of a form that this version of uspl doesn't know: "
				 "'%s'",
				 unit->source, text);
	read = (struct update_state){ strndup(text + 2, (size_t)(colon - text - 2)),
				      (uint32_t)number, NULL };
	state = read.name ? vec_push(&target->states) : NULL;
	if (!state)
		return uspl_fail_nomem(err);
	*state = read;
	vec_for_each (&target->states, older)
		if (older != state && !strcmp(older->name, state->name) &&
		    older->number != state->number)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "%s: the state '%s' has the numbers %u and %u",
					 unit->source, state->name, older->number, state->number);
	return find_symbol(unit, target, state, err);
}

int state_list_add(const struct diff *diff, struct update_target *target, struct uspl_err *err)
{
	for (size_t i = 0; i < diff->n; i++) {
		const struct unit *unit = &diff->units[i];
		const struct objsec *sec = objfile_section(unit->post.obj, USPL_STATE_SECTION);
		const char *text;
		uint64_t at = 0;

		while (sec && (text = answer_next_text(sec, &at)) != NULL) {
			int rc = has(unit->pre.obj, text) ? 0 : add(unit, text, target, err);

			if (rc)
				return rc;
		}
	}
	return 0;
}
