// SPDX-License-Identifier: GPL-3.0-or-later
// answer.c - what the author of a patch has seen to: texts "1:LINE:NAME" in a section of the unit

#include "create/unit/answer.h"

#include <string.h>

#include "base/demangle.h"
#include "create/unit/report_warn.h"
#include "create/unit/unit.h"

const char *answer_next_text(const struct objsec *sec, uint64_t *at)
{
	const char *data = (const char *)sec->data, *text;
	size_t len;

	while (data && *at < sec->size && !data[*at])
		++*at;
	if (!data || *at >= sec->size)
		return NULL;
	text = data + *at;
	len = strnlen(text, sec->size - *at);
	if (*at + len == sec->size)
		return NULL;
	*at += len + 1;
	return text;
}

/* The name in "1:120:limit", and its line; NULL if the text is of another form. */
static const char *name_in(const char *text, unsigned int *ret_line)
{
	char *end;

	if (strncmp(text, "1:", 2))
		return NULL;
	*ret_line = (unsigned int)strtoul(text + 2, &end, 10);
	return *end == ':' && end[1] ? end + 1 : NULL;
}

static bool has(const struct objfile *obj, const char *name)
{
	const struct objsec *sec = objfile_section(obj, USPL_ANSWER_SECTION);
	const char *text, *there;
	unsigned int line;
	uint64_t at = 0;

	while (sec && (text = answer_next_text(sec, &at)) != NULL) {
		there = name_in(text, &line);
		if (there && !strcmp(there, name))
			return true;
	}
	return false;
}

int answer_read(struct diff *diff, struct uspl_err *err)
{
	for (size_t i = 0; i < diff->n; i++) {
		const struct unit *unit = &diff->units[i];
		const struct objsec *sec = objfile_section(unit->post.obj, USPL_ANSWER_SECTION);
		const char *text;
		uint64_t at = 0;

		while (sec && (text = answer_next_text(sec, &at)) != NULL) {
			struct diff_answer answer = { .unit = unit };
			struct diff_answer *slot;

			answer.name = name_in(text, &answer.line);
			if (!answer.name)
				return uspl_fail(
					err, USPL_E_UNSUPPORTED,
					"%s: an answer is of a form that this version of uspl "
					"doesn't know",
					unit->source);
			if (has(unit->pre.obj, answer.name))
				continue;
			slot = vec_push(&diff->answers);
			if (!slot)
				return uspl_fail_nomem(err);
			*slot = answer;
		}
	}
	return 0;
}

bool answer_given(const struct diff *diff, const char *name)
{
	struct diff_answer *answer;
	bool given = false;

	vec_for_each (&diff->answers, answer) {
		if (strcmp(answer->name, name))
			continue;
		answer->used = given = true;
	}
	return given;
}

bool answer_given_for(const struct diff *diff, const struct objsym *sym)
{
	auto_free char *name = diff->answers.n ? demangle_name(sym->name) : NULL;
	auto_free char *base = strndup(sym->name, name_base_len(sym->name));

	return answer_given(diff, sym->name) || (name && answer_given(diff, name)) ||
	       (base && answer_given(diff, base));
}

void answer_warn_unused(const struct diff *diff)
{
	const struct diff_answer *answer;

	vec_for_each (&diff->answers, answer)
		if (!answer->used)
			report_warn(diff->report,
				    "%s:%u: USPL_ANSWERS(%s) answers nothing: no change of that "
				    "name would be refused",
				    answer->unit->source, answer->line, answer->name);
}
