// SPDX-License-Identifier: GPL-3.0-or-later
// known.c - what a watch knows of the processes that an update may be for

#include "machine/daemon/known.h"

#include <string.h>

#define SECOND INT64_C(1000000000)
/* Powers of two, in seconds. */
#define DELAY_MAX 8
/* Looks at a process about which nothing is said: it may not be through its start. */
#define SILENT_MAX 3

static void release(struct known_process *it)
{
	free(it->id);
	free(it->error);
	free(it->message);
}

struct known_process *known_find(const known_vec *known, const struct census_process *process)
{
	struct known_process *it;

	vec_for_each (known, it)
		if (it->process.pid == process->pid && it->process.starttime == process->starttime)
			return it;
	return NULL;
}

struct known_process *known_add(known_vec *known, const struct census_process *process)
{
	struct known_process *it = known_find(known, process);

	if (!it) {
		known_forget(known, process->pid);
		it = vec_push(known);
		if (!it)
			return NULL;
		*it = (struct known_process){ .process = *process };
	}
	it->state = KNOWN_WORKING;
	it->is_meant = false;
	it->batch = 0;
	it->seen = true;
	return it;
}

static void drop(known_vec *known, size_t i)
{
	release(&known->items[i]);
	known->items[i] = known->items[--known->n];
}

void known_forget(known_vec *known, pid_t pid)
{
	for (size_t i = known->n; i-- > 0;)
		if (known->items[i].process.pid == pid)
			drop(known, i);
}

void known_drop_unseen(known_vec *known)
{
	for (size_t i = known->n; i-- > 0;)
		if (!known->items[i].seen)
			drop(known, i);
}

/* Causes that lie in the moment. */
static bool may_pass(const char *error)
{
	static const enum uspl_code codes[] = { USPL_E_BUSY,  USPL_E_UNSTOPPABLE,  USPL_E_TRACED,
						USPL_E_PAUSE, USPL_E_MEMORY_LIMIT, USPL_E_SYSTEM,
						USPL_E_NOMEM, USPL_E_CANCELLED,    USPL_E_POLICY };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (!strcmp(error, uspl_code_name((int)codes[i])))
			return true;
	return false;
}

static void set_text(char **place, const char *text)
{
	free(*place);
	*place = text ? strdup(text) : NULL;
}

void known_take(known_vec *known, size_t batch, const struct outcome *outcome)
{
	struct known_process *it;

	vec_for_each (known, it) {
		if (it->process.pid != outcome->pid || it->batch != batch)
			continue;
		it->is_meant |= !outcome->error ||
				strcmp(outcome->error, uspl_code_name(USPL_E_NO_MATCH)) != 0;
		if (!outcome->error) {
			it->state = it->state == KNOWN_WORKING ? KNOWN_DONE : it->state;
			continue;
		}
		/* Of several updates, one that may still come counts. */
		if (it->state == KNOWN_RETRY)
			continue;
		it->state = may_pass(outcome->error) ? KNOWN_RETRY : KNOWN_REFUSED;
		set_text(&it->id, outcome->id);
		set_text(&it->error, outcome->error);
		set_text(&it->message, outcome->message);
	}
}

bool known_is_other_program(const struct known_process *known)
{
	return known->state == KNOWN_REFUSED && !known->is_meant;
}

void known_end_batch(known_vec *known, size_t batch, int64_t now)
{
	struct known_process *it;

	vec_for_each (known, it) {
		if (it->batch != batch)
			continue;
		it->batch = 0;
		if (it->state == KNOWN_WORKING)
			it->state = it->tries + 1 < SILENT_MAX ? KNOWN_RETRY : KNOWN_DONE;
		if (it->state == KNOWN_DONE) {
			set_text(&it->id, NULL);
			set_text(&it->error, NULL);
			set_text(&it->message, NULL);
			it->tries = 0;
		}
		if (it->state != KNOWN_RETRY)
			continue;
		it->due = now + (SECOND << (it->tries < DELAY_MAX ? it->tries : DELAY_MAX));
		it->tries++;
	}
}

int64_t known_next_due(const known_vec *known)
{
	const struct known_process *it;
	int64_t next = 0;

	vec_for_each (known, it)
		if (it->state == KNOWN_RETRY && (!next || it->due < next))
			next = it->due;
	return next;
}

void known_json(const known_vec *known, struct json *json)
{
	static const char *const states[] = {
		[KNOWN_WORKING] = "working",
		[KNOWN_DONE] = "done",
		[KNOWN_REFUSED] = "refused",
		[KNOWN_RETRY] = "waiting",
	};
	const struct known_process *it;

	vec_for_each (known, it) {
		if (it->state == KNOWN_DONE)
			continue;
		json_open(json, NULL, '{');
		json_number(json, "pid", it->process.pid);
		json_string(json, "state", states[it->state]);
		if (it->error) {
			json_string(json, "id", it->id);
			json_string(json, "error", it->error);
			json_string(json, "message", it->message);
		}
		json_close(json, '}');
	}
}

void known_release(known_vec *known)
{
	struct known_process *it;

	vec_for_each (known, it)
		release(it);
	vec_release(known);
}
