// SPDX-License-Identifier: GPL-3.0-or-later
// tally.c - tracers that sum up in the target: starting them, and their report

#include "trace/tally/tally.h"

#include <stdio.h>

#include "trace/engine/clocks.h"
#include "trace/engine/session.h"
#include "trace/output/json_end.h"
#include "trace/output/tracer.h"
#include "trace/output/view.h"
#include "trace/tally/trigger.h"

#define RING_BYTES 4096 /* of records; there are none */

/* What is asked of functions while such a tracer is started. */
struct tally_start {
	const struct tracer *tracer;
	void *state;
	trigger_vec triggers;
};

int tally_refuse(const struct tracer *tracer, struct uspl_err *err)
{
	if (!tracer->tally)
		return 0;
	uspl_fail(err, USPL_E_UNSUPPORTED, "the tracer '%s' has sums, and no records",
		  tracer->name);
	uspl_hint(err, "'uspl-trace report' prints them");
	return -USPL_E_UNSUPPORTED;
}

static bool is_module_wanted(void *ctx, const struct module *module)
{
	(void)ctx;
	(void)module;
	return true;
}

static bool is_function_wanted(void *ctx, const char *const *names, size_t n)
{
	struct tally_start *start = ctx;
	struct uspl_listen_site site = { 0 };

	return start->tracer->tally->choose(start->state, names, n, &site) ||
	       triggers_are_wanted(&start->triggers, names, n);
}

static int choose(void *ctx, struct listen_plan *plan, const struct listen_function *function,
		  struct uspl_listen_site *site, bool *ret, struct uspl_err *err)
{
	struct tally_start *start = ctx;

	(void)plan;
	(void)err;
	if (!start->tracer->tally->choose(start->state, function->names, function->n_names, site))
		site->role = USPL_LISTEN_NO_ROLE;
	/* What takes long is seen at its return only. */
	if (triggers_choose(&start->triggers, function, site) && site->on_slow)
		site->bare = 0;
	*ret = true;
	return 0;
}

static int check(void *ctx, struct uspl_err *err)
{
	struct tally_start *start = ctx;
	const struct tracer_tally *tally = start->tracer->tally;
	int rc = triggers_check(&start->triggers, err);

	if (rc || !tally->check)
		return rc;
	return tally->check(start->state, err);
}

int tally_add_options(struct tally_options *opts, cli_option_vec *table, struct uspl_err *err)
{
	const struct cli_option options[] = {
		{ 0, "trigger", "ACTION:FUNCTION[>TIME]", CLI_STRINGS, &opts->triggers,
		  "start or stop when it is called, or takes as long" },
	};

	return cli_add_options(table, options, ARRAY_SIZE(options), err);
}

void tally_options_release(struct tally_options *opts)
{
	vec_release(&opts->triggers);
}

static int parse_and_run(const struct tally_options *opts, struct tally_start *start,
			 const struct trace_request *request, pid_t pid, struct uspl_err *err)
{
	auto_proc struct proc *proc = NULL;
	struct trace_switch result;
	int rc = triggers_parse(&opts->triggers, &start->triggers, err);

	if (rc)
		return rc;
	if (triggers_have(&start->triggers, USPL_LISTEN_SNAPSHOT))
		return uspl_fail(err, USPL_E_USAGE,
				 "the tracer '%s' keeps sums: of them there is no snapshot",
				 start->tracer->name);
	request->listen->halted = triggers_have(&start->triggers, USPL_LISTEN_START);
	rc = view_lock(pid, &proc, err);
	if (rc)
		return rc;
	proc->begins = opts->begins;
	rc = view_start(proc, request, &result, err);
	if (rc)
		return rc;
	if (!cli_quiet() && !opts->silent)
		printf("tracing pid %d: %zu functions, stopped %.0f us\n", pid, result.sites,
		       result.stop_us);
	return 0;
}

int tally_start(const struct tracer *tracer, void *state, struct tally_options *opts, pid_t pid,
		struct uspl_err *err)
{
	const struct tracer_tally *tally = tracer->tally;
	struct tally_start start = { .tracer = tracer, .state = state };
	struct listen_plan plan = { .job = tally->job,
				    .own_len = tally->own_len,
				    .thread_len = tally->thread_len,
				    .leaves_len = tally->leaves_len,
				    .no_calls = true,
				    .choose = choose,
				    .check = check,
				    .ctx = &start };
	const struct trace_request request = {
		.ring_bytes = RING_BYTES,
		.keep_mcount = true,
		.choice = { is_module_wanted, is_function_wanted, &start },
		.listen = &plan,
	};
	int rc = parse_and_run(opts, &start, &request, pid, err);

	listen_plan_release(&plan);
	triggers_release(&start.triggers);
	if (rc)
		uspl_context(err, "cannot trace pid %d", pid);
	return rc;
}

int tally_read_thread(const struct tally *tally, size_t i, void *ret, size_t len,
		      struct uspl_err *err)
{
	return proc_read(tally->view.proc,
			 listen_config_thread(&tally->view.session, &tally->config, i), ret, len,
			 err);
}

/* What is known of the session of tally->view. */
static int read_session(struct tally *tally, struct uspl_err *err)
{
	const struct uspl_trace_region *head;
	struct trace_clocks now;
	int rc;

	if (session_is_copy(tally->view.proc, &tally->view.session)) {
		uspl_fail(err, USPL_E_NOT_APPLIED,
			  "pid %d is a child of a traced process, and isn't traced itself",
			  tally->view.proc->pid);
		uspl_hint(err, "'uspl-trace start %d' traces it", tally->view.proc->pid);
		return -USPL_E_NOT_APPLIED;
	}
	rc = listen_config_read(tally->view.proc, &tally->view.session, &tally->config, err);
	if (rc)
		return rc;
	rc = listen_config_threads(tally->view.proc, &tally->view.session, &tally->n_threads, err);
	if (rc)
		return rc;
	rc = places_open(tally->view.proc, &tally->view.modules, &tally->places, err);
	if (rc)
		return rc;
	head = &tally->view.session.regions.items[0].head;
	clocks_read(&now);
	tally->own = listen_config_own(&tally->view.session, &tally->config);
	tally->ns_per_tick = clocks_ns_per_tick(
		&(struct trace_clocks){ head->start_ticks, head->start_ns }, &now);
	tally->seconds = (double)(now.ns - head->start_ns) / 1e9;
	return 0;
}

int tally_open(pid_t pid, struct tally *tally, struct uspl_err *err)
{
	int rc = view_open(pid, false, &tally->view, err);

	if (rc)
		return rc;
	return read_session(tally, err);
}

void tally_close(struct tally *tally)
{
	places_close(&tally->places);
	listen_config_release(&tally->config);
	view_release(&tally->view);
}

double tally_ns(const struct tally *tally, uint64_t ticks)
{
	return (double)ticks * tally->ns_per_tick;
}

double tally_us(const struct tally *tally, uint64_t ticks)
{
	return (double)ticks * tally->ns_per_tick / 1e3;
}

void tally_take_json(struct json *json, struct buf *out)
{
	buf_addf(out, "%s\n", json_text(json));
	out->oom |= json->buf.oom;
	json_release(json);
	*json = (struct json){ 0 };
}

/* Prints the report of the session in tally->view. */
static int report(const struct tracer *tracer, struct tally *tally, struct uspl_err *err)
{
	const struct tally_report_options *opts = tally->opts;
	const struct uspl_listen_config *config = &tally->config.head;
	pid_t pid = tally->view.proc->pid;
	auto_buf struct buf out = { 0 }, state = { 0 };
	int rc = read_session(tally, err);

	if (rc)
		return rc;
	if (config->job != tracer->tally->job)
		return uspl_fail(err, USPL_E_NOT_APPLIED, "pid %d is traced no more", pid);
	if (!opts->json && !opts->lcov)
		buf_addf(&out, "# tracer: %s, pid %d, %.1f s\n", tracer->name, pid, tally->seconds);
	rc = tracer->tally->report(tally, opts->json, &out, err);
	if (rc)
		return rc;
	/* What a listener couldn't follow, and whether it is halted. */
	if (config->halted)
		buf_addstr(&state, config->stopped ? "# a trigger has stopped it\n"
						   : "# no trigger has started it yet\n");
	if (config->missed)
		buf_addf(&state, "# %llu calls could not be followed\n",
			 (unsigned long long)config->missed);
	if (opts->json)
		json_end_add(tracer->name, pid,
			     &(struct json_losses){ .unrecorded = config->missed }, &out);
	if (out.oom)
		return uspl_fail_nomem(err);
	fputs(buf_str(&out), stdout);
	fputs(buf_str(&state), opts->json || opts->lcov ? stderr : stdout);
	return 0;
}

int tally_report(const struct tracer *tracer, pid_t pid, const struct tally_report_options *opts,
		 struct uspl_err *err)
{
	auto_tally struct tally tally = { .opts = opts };
	int rc = view_open(pid, false, &tally.view, err);

	if (rc)
		return rc;
	return report(tracer, &tally, err);
}

int tally_report_view(const struct tracer *tracer, const struct view *view,
		      const struct tally_report_options *opts, struct uspl_err *err)
{
	auto_tally struct tally tally = { .opts = opts, .view = *view };
	int rc = report(tracer, &tally, err);

	tally.view = (struct view){ 0 };
	return rc;
}

int tally_check_report(const struct tracer *tracer, const struct tally_report_options *opts,
		       struct uspl_err *err)
{
	const struct tracer_tally *tally = tracer->tally;
	bool times = tally && tally->cell_len && !tally->entries;

	if (opts->leaks && !(tally && tally->finds_leaks))
		return uspl_fail(err, USPL_E_UNSUPPORTED, "the tracer '%s' knows nothing of leaks",
				 tracer->name);
	if (opts->lcov && !(tally && tally->flag))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the format 'lcov' is for the tracer 'coverage', not for '%s'",
				 tracer->name);
	if (opts->histogram && !times)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the tracer '%s' has no histograms: '--histogram' is for "
				 "'profile'",
				 tracer->name);
	if (opts->per_thread && !(tally && tally->cell_len && !tally->flag))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "'--per-thread' is for the tracers 'profile' and 'count', not for "
				 "'%s'",
				 tracer->name);
	if (opts->sort && tally && (!tally->cell_len || tally->flag))
		return uspl_fail(err, USPL_E_USAGE,
				 "'--sort' is for tracers that record or add up "
				 "calls");
	return 0;
}
