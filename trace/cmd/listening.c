// SPDX-License-Identifier: GPL-3.0-or-later
// listening.c - what a tracer's options want to be listened to, as a plan for the session

#include "trace/cmd/tracing.h"
#include "trace/cmd/listening.h"

#define TEXT_DEFAULT 48

static int choose(void *ctx, struct listen_plan *plan, const struct listen_function *function,
		  struct uspl_listen_site *site, bool *ret, struct uspl_err *err)
{
	struct listening *listening = ctx;

	*ret = triggers_choose(&listening->triggers, function, site);
	return arg_specs_choose(&listening->args, listening->text_max, plan, function, site, ret,
				err);
}

static int check(void *ctx, struct uspl_err *err)
{
	const struct listening *listening = ctx;
	int rc = arg_specs_check(&listening->args, err);

	if (rc)
		return rc;
	return triggers_check(&listening->triggers, err);
}

int listening_open(struct listening *listening, const struct tracing_options *opts,
		   struct uspl_err *err)
{
	int rc = arg_specs_parse(&opts->args, false, &listening->args, err);

	if (rc)
		return rc;
	rc = arg_specs_parse(&opts->results, true, &listening->args, err);
	if (rc)
		return rc;
	rc = triggers_parse(&opts->triggers, &listening->triggers, err);
	if (rc)
		return rc;
	if (opts->text_bytes > USPL_LISTEN_TEXT_MAX)
		return uspl_fail(err, USPL_E_USAGE, "'--string=%d' is above %d", opts->text_bytes,
				 USPL_LISTEN_TEXT_MAX);
	listening->text_max = opts->text_bytes ? (unsigned)opts->text_bytes : TEXT_DEFAULT;
	if (listening->entries && triggers_have_slow(&listening->triggers))
		return uspl_fail(
			err, USPL_E_USAGE,
			"the tracer 'function' sees no returns, and so no times: a trigger "
			"with '>' is for 'graph'");
	return 0;
}

void listening_release(struct listening *listening)
{
	arg_specs_release(&listening->args);
	triggers_release(&listening->triggers);
	listen_plan_release(&listening->plan);
}

struct listen_plan *listening_plan(struct listening *listening)
{
	if (!listening->args.n && !listening->triggers.n)
		return NULL;
	listening->plan = (struct listen_plan){
		.job = USPL_LISTEN_ARGS,
		.halted = triggers_have(&listening->triggers, USPL_LISTEN_START),
		.snapshots = triggers_have(&listening->triggers, USPL_LISTEN_SNAPSHOT),
		.choose = choose,
		.check = check,
		.ctx = listening,
	};
	return &listening->plan;
}

bool listening_wants(const struct listening *listening, const char *const *names, size_t n)
{
	return listening && (arg_specs_are_wanted(&listening->args, names, n) ||
			     triggers_are_wanted(&listening->triggers, names, n));
}
