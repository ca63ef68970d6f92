// SPDX-License-Identifier: GPL-3.0-or-later
// trigger.c - what starts, stops or keeps a trace: the option --trigger

#include "trace/tally/trigger.h"

#include <stdlib.h>
#include <string.h>

#include "trace/engine/clocks.h"
#include "trace/tally/glob.h"

static const struct {
	const char *name;
	enum uspl_listen_action action;
} actions[] = {
	{ "start", USPL_LISTEN_START },
	{ "stop", USPL_LISTEN_STOP },
	{ "snapshot", USPL_LISTEN_SNAPSHOT },
};

static int parse(const char *word, struct trigger *trigger, struct uspl_err *err)
{
	size_t len = strcspn(word, ":"), i = 0;
	const char *name = word + len + 1, *slow = word[len] ? strrchr(name, '>') : NULL;

	while (i < ARRAY_SIZE(actions) &&
	       (strlen(actions[i].name) != len || strncmp(actions[i].name, word, len) != 0))
		i++;
	if (i == ARRAY_SIZE(actions) || !word[len] || !name[0] || slow == name) {
		uspl_fail(err, USPL_E_USAGE, "'--trigger=%s' can't be understood", word);
		uspl_hint(err,
			  "'start:FUNCTION', 'stop:FUNCTION' or 'snapshot:FUNCTION', and behind it "
			  "'>5ms' for calls that take long");
		return -USPL_E_USAGE;
	}
	/* "operator>" has the sign, too: a time begins with a digit. */
	if (slow && (slow[1] < '0' || slow[1] > '9'))
		slow = NULL;
	trigger->action = (uint8_t)actions[i].action;
	trigger->slow_s = -1;
	trigger->glob = slow ? strndup(name, (size_t)(slow - name)) : strdup(name);
	if (!trigger->glob)
		return uspl_fail_nomem(err);
	return slow ? cli_seconds("trigger", slow + 1, &trigger->slow_s, err) : 0;
}

int triggers_parse(const cli_strings *words, trigger_vec *triggers, struct uspl_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < words->n; i++) {
		struct trigger *trigger = vec_push(triggers);

		rc = trigger ? parse(words->items[i], trigger, err) : uspl_fail_nomem(err);
		if (rc)
			return rc;
	}
	return 0;
}

void triggers_release(trigger_vec *triggers)
{
	struct trigger *trigger;

	vec_for_each (triggers, trigger)
		free(trigger->glob);
	vec_release(triggers);
}

bool triggers_have(const trigger_vec *triggers, enum uspl_listen_action action)
{
	const struct trigger *trigger;

	vec_for_each (triggers, trigger)
		if (trigger->action == action)
			return true;
	return false;
}

bool triggers_have_slow(const trigger_vec *triggers)
{
	const struct trigger *trigger;

	vec_for_each (triggers, trigger)
		if (trigger->slow_s >= 0)
			return true;
	return false;
}

bool triggers_are_wanted(const trigger_vec *triggers, const char *const *names, size_t n)
{
	const struct trigger *trigger;

	vec_for_each (triggers, trigger)
		if (glob_matches_any(trigger->glob, names, n))
			return true;
	return false;
}

bool triggers_choose(trigger_vec *triggers, const struct listen_function *function,
		     struct uspl_listen_site *site)
{
	struct trigger *trigger;
	bool any = false;

	vec_for_each (triggers, trigger) {
		if (!glob_matches_any(trigger->glob, function->names, function->n_names))
			continue;
		trigger->matched++;
		any = true;
		if (trigger->slow_s < 0) {
			site->on_entry |= trigger->action;
			continue;
		}
		/* Of several times the shortest counts: a site has one. */
		if (!site->on_slow || clocks_ticks(trigger->slow_s) < site->slow)
			site->slow = clocks_ticks(trigger->slow_s);
		site->on_slow |= trigger->action;
	}
	return any;
}

int triggers_check(const trigger_vec *triggers, struct uspl_err *err)
{
	const struct trigger *trigger;

	vec_for_each (triggers, trigger)
		if (!trigger->matched)
			return uspl_fail(err, USPL_E_NO_MODULE,
					 "no function '%s' can be traced for the trigger",
					 trigger->glob);
	return 0;
}
