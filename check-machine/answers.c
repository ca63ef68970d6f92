// SPDX-License-Identifier: GPL-3.0-or-later
// answers.c - what was asked of the machine, and what it answered

#include "check-machine/answers.h"

#include <stdarg.h>
#include <string.h>

#include "base/text.h"

static const char *const words[] = {
	[VERDICT_OK] = "ok",
	[VERDICT_LIMITED] = "limited",
	[VERDICT_NO] = "no",
};

static struct answer *last(struct answers *answers)
{
	return answers->items.n ? &answers->items.items[answers->items.n - 1] : NULL;
}

void answers_add(struct answers *answers, const char *name, enum verdict verdict, const char *fmt,
		 ...)
{
	struct answer *answer = vec_push(&answers->items);
	va_list args;

	answers->oom |= !answer;
	if (!answer)
		return;
	answer->name = name;
	answer->verdict = verdict;
	va_start(args, fmt);
	vsnprintf(answer->text, sizeof(answer->text), fmt, args);
	va_end(args);
}

void answers_way_out(struct answers *answers, const char *fmt, ...)
{
	struct answer *answer = last(answers);
	va_list args;

	if (!answer)
		return;
	va_start(args, fmt);
	vsnprintf(answer->way_out, sizeof(answer->way_out), fmt, args);
	va_end(args);
}

/* "pid 4711" of a trial becomes "a trial", and so does "thread 4711". */
static void hide_trials(const struct answers *answers, char *text)
{
	static const char *const before[] = { "pid ", "thread " };
	const pid_t *pid;

	vec_for_each (&answers->trials, pid) {
		for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
			char name[32], *found;
			int len = snprintf(name, sizeof(name), "%s%d", before[i], *pid);

			while ((found = strstr(text, name)) && len >= 7) {
				memcpy(found, "a trial", 7);
				memmove(found + 7, found + len, strlen(found + len) + 1);
			}
		}
	}
}

void answers_add_err(struct answers *answers, const char *name, enum verdict verdict,
		     const char *follows, const struct uspl_err *why)
{
	answers_add(answers, name, verdict, "%s%s%s", follows, follows[0] ? ": " : "", why->msg);
	answers_way_out(answers, "%s", why->hint);
	if (last(answers))
		hide_trials(answers, last(answers)->text);
}

const struct answer *answers_find(const struct answers *answers, const char *name)
{
	const struct answer *answer;

	vec_for_each (&answers->items, answer)
		if (!strcmp(answer->name, name))
			return answer;
	return NULL;
}

void answers_mark_vital(struct answers *answers)
{
	struct answer *answer = last(answers);

	if (answer)
		answer->vital = true;
}

bool answers_allow(const struct answers *answers)
{
	const struct answer *answer;

	vec_for_each (&answers->items, answer)
		if (answer->vital && answer->verdict == VERDICT_NO)
			return false;
	return true;
}

void answers_release(struct answers *answers)
{
	vec_release(&answers->trials);
	vec_release(&answers->items);
}

void answers_show(const struct answers *answers, struct buf *out)
{
	const struct answer *answer;

	vec_for_each (&answers->items, answer) {
		buf_addf(out, "%-7s  %-15s  ", words[answer->verdict], answer->name);
		text_add_printable(out, answer->text, strlen(answer->text), false);
		if (answer->way_out[0])
			buf_addstr(out, "; way out: ");
		text_add_printable(out, answer->way_out, strlen(answer->way_out), false);
		buf_addstr(out, "\n");
	}
}

void answers_json(const struct answers *answers, const char *key, struct json *json)
{
	const struct answer *answer;

	json_open(json, key, '[');
	vec_for_each (&answers->items, answer) {
		json_open(json, NULL, '{');
		json_string(json, "name", answer->name);
		json_string(json, "answer", words[answer->verdict]);
		json_string(json, "text", answer->text);
		json_string(json, "way_out", answer->way_out[0] ? answer->way_out : NULL);
		json_close(json, '}');
	}
	json_close(json, ']');
}
