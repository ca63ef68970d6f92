// SPDX-License-Identifier: GPL-3.0-or-later
// watch_trigger.c - triggers of tracers that observe

#include "trace/watch/watch_trigger.h"

#include "base/log.h"
#include "trace/engine/session.h"
#include "trace/output/view.h"
#include "trace/tally/trigger.h"

#define RING_BYTES 4096 /* of records; there are none */

static bool is_module_wanted(void *ctx, const struct module *module)
{
	(void)ctx;
	return module->is_main;
}

static bool is_function_wanted(void *ctx, const char *const *names, size_t n)
{
	return triggers_are_wanted(ctx, names, n);
}

static int choose(void *ctx, struct listen_plan *plan, const struct listen_function *function,
		  struct uspl_listen_site *site, bool *ret, struct uspl_err *err)
{
	(void)plan;
	(void)err;
	*ret = triggers_choose(ctx, function, site);
	return 0;
}

static int check(void *ctx, struct uspl_err *err)
{
	return triggers_check(ctx, err);
}

static int start_session(const struct trace_request *request, pid_t pid, taddr *ret_config,
			 struct uspl_err *err)
{
	auto_session struct trace_session session = { 0 };
	auto_proc struct proc *proc = NULL;
	struct trace_switch result;
	int rc = view_lock(pid, &proc, err);

	if (rc)
		return rc;
	rc = view_start(proc, request, &result, err);
	if (rc)
		return rc;
	rc = proc_refresh_maps(proc, err);
	if (rc)
		return rc;
	rc = trace_session_read(proc, &session, err);
	if (rc)
		return rc;
	if (session.regions.n)
		*ret_config = session.regions.items[0].head.config;
	return 0;
}

static int start(trigger_vec *triggers, pid_t pid, taddr *ret_config, struct uspl_err *err)
{
	struct listen_plan plan = { .job = USPL_LISTEN_ARGS,
				    .halted = triggers_have(triggers, USPL_LISTEN_START),
				    .no_calls = true,
				    .choose = choose,
				    .check = check,
				    .ctx = triggers };
	const struct trace_request request = {
		.ring_bytes = RING_BYTES,
		.keep_mcount = true,
		.choice = { is_module_wanted, is_function_wanted, triggers },
		.listen = &plan,
	};
	int rc = start_session(&request, pid, ret_config, err);

	listen_plan_release(&plan);
	return rc;
}

int watch_trigger_begin(struct watch_trigger *trigger, const cli_strings *words,
			const struct proc *proc, struct uspl_err *err)
{
	auto_triggers trigger_vec triggers = { 0 };
	int rc = triggers_parse(words, &triggers, err);

	if (rc)
		return rc;
	if (triggers_have(&triggers, USPL_LISTEN_SNAPSHOT))
		return uspl_fail(err, USPL_E_USAGE,
				 "a tracer that observes prints what it sees: of that there is no "
				 "snapshot");
	if (!triggers.n)
		return 0;
	trigger->proc = proc;
	trigger->waits = triggers_have(&triggers, USPL_LISTEN_START);
	trigger->ends = triggers_have(&triggers, USPL_LISTEN_STOP);
	rc = start(&triggers, proc->pid, &trigger->config, err);
	if (rc)
		return rc;
	trigger->on = true;
	return 0;
}

void watch_trigger_end(struct watch_trigger *trigger)
{
	struct uspl_err err = { 0 };
	struct trace_switch result = { 0 };
	struct view view;

	if (!trigger->on || view_open(trigger->proc->pid, true, &view, &err))
		return;
	if (session_stop(view.proc, &view.modules, &view.session, &(struct session_end){ 0 },
			 &result, &err) ||
	    result.inside)
		log_info("trace", "'uspl-trace stop %d' takes what triggers have left%s%s",
			 trigger->proc->pid, err.msg[0] ? ": " : "", err.msg);
	view_release(&view);
}

/* How often the action was taken; 0 if that can't be read: then the process has ended. */
static uint64_t taken(const struct watch_trigger *trigger, bool stopped)
{
	struct uspl_listen_config config;

	if (!trigger->on ||
	    proc_read(trigger->proc, trigger->config, &config, sizeof(config), NULL))
		return 0;
	return stopped ? config.stopped : config.started;
}

bool watch_trigger_started(const struct watch_trigger *trigger)
{
	return !trigger->waits || taken(trigger, false);
}

bool watch_trigger_stopped(const struct watch_trigger *trigger)
{
	return trigger->ends && taken(trigger, true);
}
