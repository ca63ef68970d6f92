/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trigger.h - what starts, stops or keeps a trace: the option --trigger */
#ifndef USPL_TRACE_TALLY_TRIGGER_H
#define USPL_TRACE_TALLY_TRIGGER_H

#include "base/cli.h"
#include "trace/engine/listen_plan.h"

/* "start:FUNCTION", "stop:FUNCTION>5ms" */
struct trigger {
	uint8_t action; /* enum uspl_listen_action */
	char *glob;
	double slow_s;  /* calls that take as long or longer; below 0: when it is entered */
	size_t matched; /* functions */
};

typedef VEC(struct trigger) trigger_vec;

/* Reads the words of the option. USPL_E_USAGE: one of them can't be understood. */
int triggers_parse(const cli_strings *words, trigger_vec *triggers,
		   struct uspl_err *err) uspl_must_check;
void triggers_release(trigger_vec *triggers);
DEFINE_AUTO_RELEASE(triggers, trigger_vec, triggers_release)
#define auto_triggers __attribute__((cleanup(cleanup_triggers_)))
/* True if one of them takes this action. */
bool triggers_have(const trigger_vec *triggers, enum uspl_listen_action action);
/* True if one of them waits for a call to take long. */
bool triggers_have_slow(const trigger_vec *triggers);
/* True if one of them is for a function of these names. */
bool triggers_are_wanted(const trigger_vec *triggers, const char *const *names, size_t n);
/* Fills in a site by those that are for the function; true if there are any. */
bool triggers_choose(trigger_vec *triggers, const struct listen_function *function,
		     struct uspl_listen_site *site);
/* USPL_E_NO_MODULE if one was for no function. */
int triggers_check(const trigger_vec *triggers, struct uspl_err *err) uspl_must_check;

#endif
