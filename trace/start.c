// SPDX-License-Identifier: GPL-3.0-or-later
// start.c - uspl-trace start: tracing begins; and stop: it ends

#include <fnmatch.h>
#include <string.h>

#include "base/cancel.h"
#include "objfile/demangle.h"
#include "trace/trace.h"

#define RING_DEFAULT (1 << 20)

struct options {
	const char *tracer;
	cli_strings only, not, modules;
	double threshold_s;
	int buffer_kb;
	bool keep_mcount;
	pid_vec pids;
};

static void release(struct options *opts)
{
	vec_release(&opts->only);
	vec_release(&opts->not );
	vec_release(&opts->modules);
	vec_release(&opts->pids);
}

static int parse(int argc, char **argv, struct options *opts, struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 't', "tracer", "NAME", CLI_STRING, &opts->tracer,
		  "'graph' (default): calls, their durations and who makes them; 'function': "
		  "entries" },
		{ 'F', "function", "GLOB", CLI_STRINGS, &opts->only,
		  "trace functions of these names only" },
		{ 'N', "notrace", "GLOB", CLI_STRINGS, &opts->not, "don't trace these" },
		{ 'm', "module", "GLOB", CLI_STRINGS, &opts->modules,
		  "trace in these modules (default: in the program itself)" },
		{ 0, "keep-mcount", NULL, CLI_FLAG, &opts->keep_mcount,
		  "of a program built with -pg: let it go on calling mcount" },
		{ 0, "threshold", "TIME", CLI_SECONDS, &opts->threshold_s,
		  "record calls that take as long or longer only ('5us')" },
		{ 0, "buffer", "KB", CLI_INT, &opts->buffer_kb,
		  "memory for each thread's records (default 1024)" },
	};
	const struct cli_command cmd = {
		.name = "uspl-trace start",
		.synopsis = "[OPTION]... PID...",
		.summary = "Starts tracing functions of running processes",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);

	if (rc)
		return rc;
	if (first == argc) {
		uspl_fail(err, USPL_E_USAGE, "no pid given");
		uspl_hint(err, "try 'uspl-trace start --help'");
		return -USPL_E_USAGE;
	}
	return cli_pids(argv + first, argc - first, &opts->pids, err);
}

static bool matches(const cli_strings *globs, const char *name)
{
	for (size_t i = 0; i < globs->n; i++)
		if (!fnmatch(globs->items[i], name, 0))
			return true;
	return false;
}

/* Both the name that the linker knows and the one that people write count. */
static bool matches_either(const cli_strings *globs, const char *name)
{
	auto_free char *plain = globs->n && name ? demangle_name(name) : NULL;

	return name && (matches(globs, name) || (plain && matches(globs, plain)));
}

static bool is_module_wanted(void *ctx, const struct module *module)
{
	const struct options *opts = ctx;

	return opts->modules.n ? matches(&opts->modules, module->name) : module->is_main;
}

/* A function without a name is wanted unless names are asked for. */
static bool is_function_wanted(void *ctx, const char *name, taddr entry)
{
	const struct options *opts = ctx;

	(void)entry;
	return (!opts->only.n || matches_either(&opts->only, name)) &&
	       !matches_either(&opts->not, name);
}

static uint64_t power_of_two(uint64_t n)
{
	uint64_t power = 4096;

	while (power < n)
		power *= 2;
	return power;
}

static int start_one(struct options *opts, const struct tracer *tracer, pid_t pid,
		     struct uspl_err *err)
{
	const struct trace_request request = {
		.entries = tracer->entries,
		.ring_bytes = opts->buffer_kb ? power_of_two((uint64_t)opts->buffer_kb << 10)
					      : RING_DEFAULT,
		.threshold_s = opts->threshold_s,
		.choice = { is_module_wanted, is_function_wanted, opts },
		.keep_hooks = opts->keep_mcount,
	};
	auto_proc struct proc *proc = NULL;
	module_vec modules = { 0 };
	struct trace_switch result;
	int rc = view_lock(pid, &proc, err);

	if (!rc)
		rc = modules_read(proc, &modules, err);
	if (!rc)
		rc = session_start(proc, &modules, &request, &result, err);
	modules_release(&modules);
	if (rc)
		uspl_context(err, "cannot trace pid %d", pid);
	else if (!cli_quiet() && result.hooks)
		printf("quietened %zu calls of mcount in pid %d\n", result.hooks, pid);
	if (!rc && !cli_quiet())
		printf("tracing pid %d: %zu functions, stopped %.0f us\n", pid, result.sites,
		       result.stop_us);
	return rc;
}

/* Runs `one` for every pid; the worst status counts. */
static int for_all(const struct options *opts, const char *prog,
		   int (*one)(void *ctx, pid_t pid, struct uspl_err *err), void *ctx)
{
	int worst = USPL_STATUS_DONE;
	const pid_t *pid;

	vec_for_each (&opts->pids, pid) {
		struct uspl_err one_err = { 0 };
		int rc = one(ctx, *pid, &one_err), status = (int)uspl_code_status(rc);

		if (rc)
			uspl_err_print(stderr, prog, &one_err);
		fflush(stdout);
		worst = status > worst ? status : worst;
	}
	return worst;
}

struct start_ctx {
	struct options *opts;
	const struct tracer *tracer;
};

static int start_ctx_one(void *ctx, pid_t pid, struct uspl_err *err)
{
	struct start_ctx *start = ctx;

	return start_one(start->opts, start->tracer, pid, err);
}

int trace_start(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { .tracer = "graph" };
	struct start_ctx ctx = { &opts, NULL };
	int rc = parse(argc, argv, &opts, err), worst = USPL_STATUS_DONE;

	if (rc == CLI_GO_ON)
		rc = tracer_find(opts.tracer, &ctx.tracer, err);
	if (rc == CLI_GO_ON) {
		cancel_catch();
		worst = for_all(&opts, "uspl-trace", start_ctx_one, &ctx);
	}
	release(&opts);
	return rc < 0 ? rc : worst;
}

static int stop_one(void *ctx, pid_t pid, struct uspl_err *err)
{
	struct trace_switch result;
	struct view view;
	int rc = view_open(pid, true, &view, err);

	(void)ctx;
	if (rc)
		return rc;
	rc = session_stop(view.proc, &view.modules, &view.session, &result, err);
	if (rc)
		uspl_context(err, "cannot stop tracing pid %d", pid);
	else if (!cli_quiet())
		printf("stopped tracing pid %d: %zu functions, stopped %.0f us\n", pid,
		       result.sites, result.stop_us);
	if (!rc && result.inside && !cli_quiet())
		printf("%zu threads are still in calls that were traced: the memory stays until "
		       "they have returned; 'uspl-trace stop %d' then takes it\n",
		       result.inside, pid);
	view_release(&view);
	return rc;
}

int trace_stop(int argc, char **argv, struct uspl_err *err)
{
	const struct cli_command cmd = {
		.name = "uspl-trace stop",
		.synopsis = "PID...",
		.summary = "Stops tracing; calls that are open return as they would have",
	};
	struct options opts = { 0 };
	int first, rc = cli_parse(&cmd, argc, argv, &first, err), worst = USPL_STATUS_DONE;

	if (rc == CLI_GO_ON && first == argc)
		rc = uspl_fail(err, USPL_E_USAGE, "no pid given");
	if (rc == CLI_GO_ON)
		rc = cli_pids(argv + first, argc - first, &opts.pids, err);
	if (rc == CLI_GO_ON) {
		cancel_catch();
		worst = for_all(&opts, "uspl-trace", stop_one, NULL);
	}
	release(&opts);
	return rc < 0 ? rc : worst;
}
