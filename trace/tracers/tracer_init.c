// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_init.c - how a program begins: its libraries and its constructors, and how long each takes
//
// Libraries are told by the system calls up to where all are in place (loading.c); there the
// pointers to constructors are led to code that takes their time (trace/engine/constructors.h), and
// the program is let go.

#include <stdlib.h>

#include "base/json.h"
#include "base/strvec.h"
#include "proc/proc_lock.h"
#include "trace/engine/clocks.h"
#include "trace/engine/constructors.h"
#include "trace/output/formats.h"
#include "trace/output/json_end.h"
#include "trace/output/tracer.h"
#include "trace/output/view.h"
#include "trace/tally/places.h"
#include "trace/tracers/child.h"
#include "trace/tracers/loading.h"
#include "trace/tracers/tracers.h"

struct init {
	const char *format_name; /* the option */
	const struct format *format;
	struct loading loading;
	struct trace_clocks start;
	char comm[sizeof(((struct proc *)0)->comm)];
	module_vec modules;
	loading_vec libraries;
	double loading_us;
	constructor_vec constructors;
	strvec names; /* of the constructors: later there may be no process to ask */
	size_t more;  /* constructors that are too many */
	taddr at;     /* where their times are */
};

/* A constructor that was called. */
struct called {
	const struct module *module;
	const char *name;
	double start_us, us; /* since the first one; us is negative if it hasn't returned */
};

typedef VEC(struct called) called_vec;

static const struct tracer_option options[] = {
	{ "format", "NAME", CLI_STRING, offsetof(struct init, format_name),
	  "'text' (default) or 'json'" },
};

static int name_constructors(struct init *init, const struct proc *proc, struct uspl_err *err)
{
	const struct constructor *constructor;
	struct places places;
	int rc = places_open(proc, &init->modules, &places, err);

	vec_for_each (&init->constructors, constructor) {
		struct buf name = { 0 };
		char **place = rc ? NULL : vec_push(&init->names);

		if (!place)
			break;
		places_add_function(&places, constructor->function, &name);
		*place = buf_take(&name);
		if (!*place)
			break;
	}
	places_close(&places);
	if (rc)
		return rc;
	if (init->names.n < init->constructors.n ||
	    (init->names.n && !init->names.items[init->names.n - 1]))
		return uspl_fail_nomem(err);
	return 0;
}

/* The program stands still, with all libraries in place and no constructor run. */
static int prepare(struct init *init, pid_t pid, struct uspl_err *err)
{
	auto_proc struct proc *proc = NULL;
	int rc = view_lock(pid, &proc, err);

	if (rc)
		return rc;
	rc = modules_read(proc, &init->modules, err);
	if (rc)
		return rc;
	rc = loading_times(&init->loading, &init->modules, &init->libraries, &init->loading_us,
			   err);
	if (rc)
		return rc;
	rc = constructors_find(proc, &init->modules, &init->constructors, &init->more, err);
	if (rc)
		return rc;
	rc = name_constructors(init, proc, err);
	if (rc)
		return rc;
	rc = constructors_time(proc, &init->constructors, &init->at, err);
	if (rc)
		return rc;
	snprintf(init->comm, sizeof(init->comm), "%s", proc->comm);
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct called *x = a, *y = b;

	return x->start_us < y->start_us ? -1 : x->start_us > y->start_us;
}

/* Those that were called, in order. */
static int read_called(const struct init *init, const struct proc *proc, called_vec *ret,
		       struct uspl_err *err)
{
	size_t n = init->constructors.n;
	auto_free struct uspl_constructor *taken = calloc(n + 1, sizeof(*taken));
	uint64_t first = UINT64_MAX;
	struct trace_clocks now;
	double us;
	int rc = taken ? constructors_read(proc, &init->constructors, init->at, taken, err)
		       : uspl_fail_nomem(err);

	if (rc)
		return rc;
	clocks_read(&now);
	us = clocks_ns_per_tick(&init->start, &now) / 1e3;
	for (size_t i = 0; i < n; i++)
		if (taken[i].start && taken[i].start < first)
			first = taken[i].start;
	for (size_t i = 0; i < n; i++) {
		struct called *called;

		if (!taken[i].start)
			continue;
		called = vec_push(ret);
		if (!called)
			return uspl_fail_nomem(err);
		*called = (struct called){
			.module = init->constructors.items[i].module,
			.name = init->names.items[i],
			.start_us = (double)(taken[i].start - first) * us,
			.us = taken[i].end ? (double)(taken[i].end - taken[i].start) * us : -1,
		};
	}
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), by_start);
	return 0;
}

/* A time, or a dash for none. */
static void add_us(double us, struct buf *out)
{
	if (us < 0)
		buf_addf(out, "%13s ", "-");
	else
		buf_addf(out, "%13.3f ", us);
}

static void add_text(const struct init *init, const called_vec *all, pid_t pid, struct buf *out)
{
	const struct loading_time *library;
	const struct called *called;
	double sum = 0;

	vec_for_each (all, called)
		sum += called->us > 0 ? called->us : 0;
	buf_addf(out,
		 "# tracer: init, pid %d (%s): %.3f us until all was loaded, %.3f us in %zu "
		 "constructors\n%13s %13s  %s\n",
		 pid, init->comm, init->loading_us, sum, all->n, "MAPPED us", "RELOCATED us",
		 "MODULE");
	vec_for_each (&init->libraries, library) {
		add_us(library->mapped_us, out);
		add_us(library->relocated_us, out);
		buf_addf(out, " %s\n", library->module->path);
	}
	buf_addf(out, "%13s %13s  %-20s %s\n", "START us", "DURATION us", "MODULE", "CONSTRUCTOR");
	vec_for_each (all, called) {
		add_us(called->start_us, out);
		add_us(called->us, out);
		buf_addf(out, " %-20s %s\n", called->module->name, called->name);
	}
	if (init->more)
		buf_addf(out, "# and %zu constructors that were too many to take their time\n",
			 init->more);
}

static void json_add_us_as_ns(struct json *json, const char *key, double us)
{
	if (us >= 0)
		json_ns(json, key, us * 1e3);
	else
		json_string(json, key, NULL);
}

static void add_json(const struct init *init, const called_vec *all, struct buf *out)
{
	const struct loading_time *library;
	const struct called *called;

	vec_for_each (&init->libraries, library) {
		auto_json struct json json = { 0 };

		json_open(&json, NULL, '{');
		json_string(&json, "kind", "module");
		json_string(&json, "name", library->module->path);
		json_add_us_as_ns(&json, "mapped_ns", library->mapped_us);
		json_add_us_as_ns(&json, "relocated_ns", library->relocated_us);
		json_close(&json, '}');
		buf_addf(out, "%s\n", json_text(&json));
	}
	vec_for_each (all, called) {
		auto_json struct json json = { 0 };

		json_open(&json, NULL, '{');
		json_string(&json, "kind", "constructor");
		json_string(&json, "name", called->name);
		json_string(&json, "module", called->module->path);
		json_add_us_as_ns(&json, "start_ns", called->start_us);
		json_add_us_as_ns(&json, "duration_ns", called->us);
		json_close(&json, '}');
		buf_addf(out, "%s\n", json_text(&json));
	}
	if (init->more)
		fprintf(stderr, "%zu constructors were too many to take their time\n", init->more);
}

static int open_and_read(const struct init *init, pid_t pid, called_vec *ret, struct uspl_err *err)
{
	auto_proc struct proc *proc = NULL;
	int rc = proc_open_readonly(pid, &proc, err);

	if (rc)
		return rc;
	return read_called(init, proc, ret, err);
}

/* The program ends: its memory is still there. */
static int print(void *ctx, pid_t pid, struct uspl_err *err)
{
	const struct init *init = ctx;
	auto_buf struct buf out = { 0 };
	auto_vec called_vec all = { 0 };
	int rc = open_and_read(init, pid, &all, err);

	if (rc == -USPL_E_NOT_APPLIED)
		child_say_gone(pid);
	else if (rc)
		return rc;
	if (init->format == &format_json) {
		add_json(init, &all, &out);
		json_end_add("init", pid, &(struct json_losses){ .unrecorded = init->more }, &out);
	} else
		add_text(init, &all, pid, &out);
	if (out.oom)
		return uspl_fail_nomem(err);
	format_flush(stdout, &out, true);
	return 0;
}

static int check_init(void *state, struct uspl_err *err)
{
	const struct format *const formats[FORMATS_MAX] = { &format_text, &format_json };
	struct init *init = state;

	return format_choose(&tracer_init, formats, init->format_name, &init->format, err);
}

static int run(struct init *init, struct child *child, struct uspl_err *err)
{
	const struct child_listener listener = { loading_stop, &init->loading };
	const struct child_events events = { .at_end = print, .ctx = init };
	int rc;

	clocks_read(&init->start);
	rc = child_ready(child, &listener, err);
	if (rc)
		return rc;
	rc = prepare(init, child->pid, err);
	if (rc)
		return rc;
	return child_follow(child, &events, err);
}

static int run_init(void *state, struct child *child, struct uspl_err *err)
{
	struct init *init = state;
	int rc = run(init, child, err);

	strvec_release(&init->names);
	vec_release(&init->constructors);
	vec_release(&init->libraries);
	modules_release(&init->modules);
	loading_release(&init->loading);
	return rc;
}

static const struct tracer_launch launch = {
	.check = check_init,
	.run = run_init,
};

const struct tracer tracer_init = {
	.name = "init",
	.help = "how a program begins: its libraries and constructors, and how long each takes",
	.options = options,
	.n_options = ARRAY_SIZE(options),
	.state_size = sizeof(struct init),
	.launch = &launch,
};
