// SPDX-License-Identifier: GPL-3.0-or-later
// tracing.c - uspl-trace start with a tracer that stands in functions of the target: which, and
// starting

#include "trace/cmd/tracing.h"

#include <stdio.h>

#include "base/log.h"
#include "proc/task.h"
#include "trace/cmd/companion.h"
#include "trace/cmd/listening.h"
#include "trace/cmd/subcommands.h"
#include "trace/cmd/switched.h"
#include "trace/cmd/trace_keep.h"
#include "trace/engine/session.h"
#include "trace/output/tracer.h"
#include "trace/output/view.h"
#include "trace/tally/glob.h"
#include "trace/tally/tally.h"

#define RING_DEFAULT (1 << 20)
#define NO_RING 4096 /* of records; there are none */

static int add_choice(struct tracing_options *opts, cli_option_vec *table, struct uspl_err *err)
{
	const struct cli_option options[] = {
		{ 'F', "function", "GLOB", CLI_STRINGS, &opts->only,
		  "trace functions of these names only" },
		{ 'N', "notrace", "GLOB", CLI_STRINGS, &opts->not, "don't trace these" },
		{ 'm', "module", "GLOB", CLI_STRINGS, &opts->modules,
		  "trace in these modules (default: in the program itself)" },
		{ 0, "keep-mcount", NULL, CLI_FLAG, &opts->keep_mcount,
		  "of a program built with -pg: let it go on calling mcount" },
		{ 0, "tid", "TID", CLI_STRINGS, &opts->tids,
		  "record what these threads call only (default: all threads, new ones, too)" },
		{ 0, "json", NULL, CLI_FLAG, &opts->json, "print the result as JSON" },
	};

	return cli_add_options(table, options, ARRAY_SIZE(options), err);
}

int tracing_add_options(struct tracing_options *opts, bool records, cli_option_vec *table,
			struct uspl_err *err)
{
	const struct cli_option options[] = {
		{ 0, "depth", "N", CLI_INT, &opts->depth,
		  "record no more than so many calls in each other" },
		{ 0, "threshold", "TIME", CLI_SECONDS, &opts->threshold_s,
		  "record calls that take as long or longer only ('5us')" },
		{ 0, "buffer", "KB", CLI_INT, &opts->buffer_kb,
		  "memory for each thread's records (default 1024)" },
		{ 'A', "args", "FUNCTION[@ARG,...]", CLI_STRINGS, &opts->args,
		  "record these arguments ('arg1', by name, 'arg2/s'), or all of them" },
		{ 'R', "result", "FUNCTION", CLI_STRINGS, &opts->results,
		  "record what it returns ('FUNCTION/s': a string)" },
		{ 0, "string", "BYTES", CLI_INT, &opts->text_bytes,
		  "how much of each string is recorded (default 48)" },
		{ 0, "trigger", "ACTION:FUNCTION[>TIME]", CLI_STRINGS, &opts->triggers,
		  "start, stop or snapshot when it is called, or takes as long" },
	};
	int rc = add_choice(opts, table, err);

	if (rc || !records)
		return rc;
	return cli_add_options(table, options, ARRAY_SIZE(options), err);
}

void tracing_options_release(struct tracing_options *opts)
{
	vec_release(&opts->only);
	vec_release(&opts->not );
	vec_release(&opts->modules);
	vec_release(&opts->tids);
	vec_release(&opts->args);
	vec_release(&opts->results);
	vec_release(&opts->triggers);
}

static bool matches_any(const cli_strings *globs, const char *const *names, size_t n)
{
	for (size_t i = 0; i < globs->n; i++)
		if (glob_matches_any(globs->items[i], names, n))
			return true;
	return false;
}

static bool is_module_wanted(void *ctx, const struct module *module)
{
	const struct tracing_options *opts = ctx;

	return opts->modules.n ? matches_any(&opts->modules, &module->name, 1) : module->is_main;
}

/*
 * A function without a name is wanted unless names are asked for. What is listened to is wanted in
 * any case.
 */
static bool is_function_wanted(void *ctx, const char *const *names, size_t n)
{
	const struct tracing_options *opts = ctx;

	return ((!opts->only.n || matches_any(&opts->only, names, n)) &&
		!matches_any(&opts->not, names, n)) ||
	       listening_wants(opts->listening, names, n);
}

struct trace_choice tracing_choice(struct tracing_options *opts)
{
	return (struct trace_choice){ is_module_wanted, is_function_wanted, opts };
}

uint64_t tracing_ring_bytes(int kb)
{
	uint64_t power = 4096;

	if (!kb)
		return RING_DEFAULT;
	while (power < (uint64_t)kb << 10)
		power *= 2;
	return power;
}

static bool sees_entries_only(const struct tracer *tracer)
{
	return tracer->hook ? tracer->hook->entries : tracer->tally->entries;
}

/* What can be seen to be wrong without looking at the process. */
static int check(const struct tracer *tracer, const struct tracing_options *opts,
		 struct uspl_err *err)
{
	if (!tracer->hook)
		return 0;
	if (opts->depth && tracer->hook->entries)
		return uspl_fail(err, USPL_E_USAGE,
				 "the tracer '%s' sees no returns, and so no depth: '--depth' is "
				 "for 'graph'",
				 tracer->name);
	if (opts->depth > USPL_TRACE_DEPTH_MAX)
		return uspl_fail(err, USPL_E_USAGE, "'--depth=%d' is above %d", opts->depth,
				 USPL_TRACE_DEPTH_MAX);
	if (opts->results.n && tracer->hook->entries)
		return uspl_fail(err, USPL_E_USAGE,
				 "the tracer '%s' sees no returns: '--result' is for 'graph'",
				 tracer->name);
	return 0;
}

static int read_tids(const cli_strings *words, tid_vec *tids, struct uspl_err *err)
{
	for (size_t i = 0; i < words->n; i++) {
		pid_t tid, *place;
		int rc = cli_pid(words->items[i], &tid, err);

		if (rc)
			return rc;
		place = vec_push(tids);
		if (!place)
			return uspl_fail_nomem(err);
		*place = tid;
	}
	return 0;
}

/* NAME ARG, for each of the words. */
static void add_words(const cli_strings *words, const char *name, const char **argv, size_t *n)
{
	for (size_t i = 0; i < words->n; i++) {
		argv[(*n)++] = name;
		argv[(*n)++] = words->items[i];
	}
}

bool tracing_can_grow(const struct tracing_options *opts)
{
	/* Without --module no library is wanted. Triggers know the parts of the start only. */
	return opts->modules.n && !opts->triggers.n;
}

/*
 * Starts a follower (trace_follow.c) for a process that has just been traced by these options, if
 * libraries can be wanted. It ends with the session or the process. With USPL_KEEPER=none in the
 * environment there is none.
 */
static void start_follower(const struct proc *proc, const struct tracing_options *opts)
{
	size_t words = opts->only.n + opts->not .n + opts->modules.n, n = 0;
	auto_free const char **argv = calloc(2 * words + 5, sizeof(*argv));
	auto_buf struct buf why = { 0 };
	char number[16];

	if (!tracing_can_grow(opts) || !argv)
		return;
	snprintf(number, sizeof(number), "%d", proc->pid);
	argv[n++] = "uspl-trace";
	argv[n++] = "follow";
	add_words(&opts->only, "-F", argv, &n);
	add_words(&opts->not, "-N", argv, &n);
	add_words(&opts->modules, "-m", argv, &n);
	if (opts->keep_mcount)
		argv[n++] = "--keep-mcount";
	argv[n++] = number;
	if (companion_start(argv, &why) && why.len)
		log_info("trace", "libraries that are opened later aren't traced: %s",
			 buf_str(&why));
}

static int start(const struct tracer *tracer, const struct tracing_options *opts,
		 struct listening *listening, struct trace_request *request, pid_t pid,
		 struct uspl_err *err)
{
	struct trace_switch result = { 0 };
	auto_proc struct proc *proc = NULL;
	bool flag;
	int rc = check(tracer, opts, err);

	if (rc)
		return rc;
	rc = listening_open(listening, opts, err);
	if (rc)
		return rc;
	rc = read_tids(&opts->tids, &request->tids, err);
	if (rc)
		return rc;
	rc = view_lock(pid, &proc, err);
	if (rc)
		return rc;
	proc->begins = opts->begins;
	flag = tracer->tally && tracer->tally->flag && !request->tids.n;
	if (tracer->tally)
		listening->plan =
			(struct listen_plan){ .job = tracer->tally->job,
					      .flag = flag,
					      .cell_len = flag ? 0 : tracer->tally->cell_len };
	request->listen = tracer->tally ? &listening->plan : listening_plan(listening);
	rc = view_start(proc, request, &result, err);
	if (rc)
		return rc;
	/* A program that we have started is held, and read at its end; exec follows it, too. */
	if (tracer->hook && !opts->begins) {
		trace_keep_start(proc);
		start_follower(proc, opts);
	}
	if (!opts->silent)
		switched_print(pid, tracer, &result, NULL, opts->json);
	return 0;
}

int tracing_start(const struct tracer *tracer, struct tracing_options *opts, pid_t pid,
		  struct uspl_err *err)
{
	auto_listening struct listening listening = { .entries = sees_entries_only(tracer) };
	struct trace_request request = {
		.entries = sees_entries_only(tracer),
		.ring_bytes = tracer->hook ? tracing_ring_bytes(opts->buffer_kb) : NO_RING,
		.threshold_s = opts->threshold_s,
		.depth = (unsigned)opts->depth,
		.keeps = tracer->hook != NULL,
		.choice = tracing_choice(opts),
		.keep_mcount = opts->keep_mcount,
	};
	int rc;

	opts->listening = &listening;
	rc = start(tracer, opts, &listening, &request, pid, err);
	opts->listening = NULL;
	vec_release(&request.tids);
	if (rc)
		uspl_context(err, "cannot trace pid %d", pid);
	return rc;
}
