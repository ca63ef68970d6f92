// SPDX-License-Identifier: GPL-3.0-or-later
// trace_mark.c - uspl-trace mark: markers listed, and switched on and off

#include <fnmatch.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cli.h"
#include "base/json.h"
#include "base/text.h"
#include "record/probe_records.h"
#include "trace/cmd/permitted.h"
#include "trace/cmd/subcommands.h"
#include "trace/cmd/switched.h"
#include "trace/log/mark_record.h"
#include "trace/output/view.h"
#include "trace/probe/marker.h"
#include "trace/probe/marks.h"
#include "uspl/mark_abi.h"

#define TEXT_DEFAULT 48
#define TEXT_MAX 1200

struct options {
	struct marks_request request;
	int buffer_kb, text_bytes;
	bool json;
	pid_t pid;
	const char *verb;
};

int trace_mark_sizes(struct marks_request *request, int buffer_kb, int text_bytes,
		     struct uspl_err *err)
{
	int text = text_bytes ? text_bytes : TEXT_DEFAULT;

	if (strlen(request->session) >= USPL_MARK_SESSION_MAX)
		return uspl_fail(err, USPL_E_USAGE,
				 "the name of a session has at most %d characters",
				 USPL_MARK_SESSION_MAX - 1);
	if (text > TEXT_MAX)
		return uspl_fail(err, USPL_E_USAGE, "strings of at most %d bytes can be recorded",
				 TEXT_MAX);
	request->text_slots = (uint16_t)((text + USPL_MARK_SLOT_ROOM - 1) / USPL_MARK_SLOT_ROOM);
	request->ring_bytes = tracing_ring_bytes(buffer_kb);
	return 0;
}

static int parse(struct options *opts, int argc, char **argv, struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 'f', "filter", "CONDITION", CLI_STRING, &opts->request.filter,
		  "on: record only hits of which this is true: 'fd > 5 && name == \"x\"'" },
		{ 's', "session", "NAME", CLI_STRING, &opts->request.session,
		  "on, off: with rings and filters of its own, beside other sessions" },
		{ 'm', "module", "GLOB", CLI_STRING, &opts->request.module,
		  "on, list: markers of these modules only" },
		{ 0, "buffer", "KB", CLI_INT, &opts->buffer_kb,
		  "on: memory for each thread's records (default 1024)" },
		{ 0, "string", "BYTES", CLI_INT, &opts->text_bytes,
		  "on: how much of each string is recorded (default 48)" },
		VIEW_WAIT_OPTION,
		{ 0, "force", NULL, CLI_FLAG, &opts->request.force,
		  "off: don't wait for a stack that no thread is on" },
		{ 0, "json", NULL, CLI_FLAG, &opts->json, "list: one JSON object for each marker" },
	};
	const struct cli_command cmd = {
		.name = "uspl-trace mark",
		.synopsis = "[OPTION]... PID list|on|off [GLOB]",
		.summary = "Lists the markers of a process, and switches them on and off",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);

	if (rc)
		return rc;
	if (argc - first < 2 || argc - first > 3) {
		uspl_fail(err, USPL_E_USAGE, "a pid is needed, then list, on or off");
		uspl_hint(err, "try 'uspl-trace mark --help'");
		return -USPL_E_USAGE;
	}
	rc = cli_pid(argv[first], &opts->pid, err);
	if (rc)
		return rc;
	opts->verb = argv[first + 1];
	opts->request.glob = argc - first == 3 ? argv[first + 2] : NULL;
	return trace_mark_sizes(&opts->request, opts->buffer_kb, opts->text_bytes, err);
}

/* Sites of one name in one module. */
struct line {
	const struct marker *marker; /* the first of them */
	size_t sites, impossible;
	struct uspl_mark_cuts cuts; /* of the programs of its sessions */
};

typedef VEC(const char *) names;

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The sessions in which a marker is on, each once. */
static void find_sessions(const struct marks *marks, const char *name, names *ret)
{
	const struct mark_region *region;

	vec_for_each (&marks->regions, region)
		for (size_t i = 0; i < region->on.n; i++) {
			const char **place = NULL;

			if (region->on.items[i] &&
			    !strcmp(mark_text(region, region->probes.items[i].name), name))
				place = vec_push(ret);
			if (place)
				*place = region->head.session;
		}
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), by_text);
	for (size_t i = 1; i < ret->n;) {
		if (strcmp(ret->items[i - 1], ret->items[i]) != 0) {
			i++;
			continue;
		}
		memmove(ret->items + i, ret->items + i + 1, (ret->n - i - 1) * sizeof(*ret->items));
		ret->n--;
	}
}

static void print_json(const struct line *line, const struct module *module, const names *sessions)
{
	const struct marker *marker = line->marker;
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_string(&json, "name", marker->name);
	json_string(&json, "kind", marker->usdt ? "usdt" : "mark");
	json_string(&json, "module", module->name);
	json_number(&json, "sites", (int64_t)line->sites);
	json_number(&json, "args", (int64_t)marker->n_args);
	json_string(&json, "format", marker->format);
	json_open(&json, "sessions", '[');
	for (size_t i = 0; i < sessions->n; i++)
		json_string(&json, NULL, sessions->items[i]);
	json_close(&json, ']');
	json_number(&json, "cut_short", (int64_t)line->cuts.runs);
	json_number(&json, "not_called", (int64_t)line->cuts.passed);
	json_string(&json, "reason", line->impossible ? marker->why : NULL);
	json_close(&json, '}');
	printf("%s\n", json_text(&json));
}

static void print_text(const struct line *line, const struct module *module, const names *sessions)
{
	const struct marker *marker = line->marker;
	auto_buf struct buf text = { 0 }, state = { 0 };

	/* The session without a name is just "on". */
	for (size_t i = 0; i < sessions->n; i++)
		buf_addf(&state, "%s%s", i ? "," : "",
			 *sessions->items[i] ? sessions->items[i] : "on");
	text_add_printable(&text, marker->name, strlen(marker->name), false);
	if (marker->format) {
		buf_addstr(&text, " \"");
		text_add_printable(&text, marker->format, strlen(marker->format), false);
		buf_addstr(&text, "\"");
	} else {
		buf_addf(&text, " (%zu arguments)", marker->n_args);
	}
	if (line->impossible)
		buf_addf(&text, ": %zu can't be switched on: %s", line->impossible, marker->why);
	printf("%-10s %-5s %-20s %5zu  %s\n", sessions->n ? buf_str(&state) : "off",
	       marker->usdt ? "usdt" : "mark", module->name, line->sites, buf_str(&text));
}

static int by_name(const void *a, const void *b)
{
	const struct marker *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	/* A marker that says why comes first. */
	return order ? order : (x->why[0] == '\0') - (y->why[0] == '\0');
}

static void print_markers(const struct options *opts, const struct proc *proc,
			  const struct module *module, struct markers *markers,
			  const struct marks *marks)
{
	size_t n = markers->sites.n;

	if (n)
		qsort(markers->sites.items, n, sizeof(*markers->sites.items), by_name);
	for (size_t i = 0, next; i < n; i = next) {
		struct line line = { .marker = &markers->sites.items[i] };
		names sessions = { 0 };

		for (next = i;
		     next < n && !strcmp(markers->sites.items[next].name, line.marker->name);
		     next++) {
			line.sites++;
			line.impossible += markers->sites.items[next].why[0] != '\0';
		}
		if (opts->request.glob && fnmatch(opts->request.glob, line.marker->name, 0) != 0)
			continue;
		find_sessions(marks, line.marker->name, &sessions);
		for (size_t k = 0; k < sessions.n; k++) {
			struct uspl_mark_cuts cuts = marks_cuts(proc, marks, sessions.items[k]);

			line.cuts.runs += cuts.runs;
			line.cuts.passed += cuts.passed;
		}
		(opts->json ? print_json : print_text)(&line, module, &sessions);
		vec_release(&sessions);
	}
}

static int list(void *ctx, pid_t pid, struct uspl_err *err)
{
	const struct options *opts = ctx;
	auto_marks struct marks marks = { 0 };
	const struct mark_region *region;
	const struct module *module;
	auto_view struct view view = { 0 };
	int rc = view_open_any(pid, false, &view, err);

	if (rc)
		return rc;
	rc = marks_read(view.proc, &marks, err);
	if (rc)
		return rc;
	vec_for_each (&view.modules, module) {
		auto_markers struct markers markers = { 0 };

		if (module->is_vdso ||
		    (opts->request.module && fnmatch(opts->request.module, module->name, 0) != 0))
			continue;
		rc = marks_find(view.proc, module, &markers, err);
		if (rc)
			return rc;
		print_markers(opts, view.proc, module, &markers, &marks);
	}
	if (opts->json)
		return 0;
	/* Of each session, what its program has run into. */
	vec_for_each (&marks.regions, region) {
		const char *session = region->head.session;
		auto_buf struct buf line = { 0 }, name = { 0 };
		struct uspl_mark_cuts cuts = marks_cuts(view.proc, &marks, session);

		if (marks_session(&marks, session) != region || !mark_cuts_add(&cuts, &line))
			continue;
		text_add_printable(&name, session, strlen(session), false);
		printf("session '%s': %s\n", buf_str(&name), buf_str(&line));
	}
	return 0;
}

static int on(void *ctx, pid_t pid, struct uspl_err *err)
{
	const struct options *opts = ctx;
	struct marks_switched result;
	struct view view;
	int rc = view_open_any(pid, true, &view, err);

	if (rc)
		return rc;
	rc = marks_on(view.proc, &view.modules, &opts->request, &result, err);
	view_release(&view);
	if (rc) {
		uspl_context(err, "cannot switch markers of pid %d on", opts->pid);
		return rc;
	}
	if (cli_quiet())
		return 0;
	if (result.probes)
		printf("switched on in pid %d: %zu sites of markers, stopped %.0f us\n", opts->pid,
		       result.probes, result.stop_us);
	else
		printf("on already in pid %d: %zu sites of markers\n", opts->pid, result.already);
	if (result.impossible)
		printf("left out: %zu sites; marker %s\n", result.impossible, result.why);
	return 0;
}

static void print_off(const struct options *opts, const struct marks_switched *result)
{
	auto_buf struct buf cuts = { 0 };

	printf("switched off in pid %d: %zu sites of markers, stopped %.0f us\n", opts->pid,
	       result->probes, result->stop_us);
	if (result->put_back)
		printf("%zu call%s on stacks that no thread is on (coroutines, setjmp): made to "
		       "return without "
		       "probes\n",
		       result->put_back, result->put_back == 1 ? "" : "s");
	if (mark_cuts_add(&result->cuts, &cuts))
		printf("%s\n", buf_str(&cuts));
	if (result->inactive)
		printf("a stack that no thread is on may lead back into probes, and isn't "
		       "understood: the memory "
		       "stays; 'uspl-trace mark %d off' looks again, with --force it takes it in "
		       "any case\n",
		       opts->pid);
	else if (result->inside)
		printf("%zu thread%s still inside of probes: the memory stays until they have "
		       "left; 'uspl-trace mark %d off' then takes it\n",
		       result->inside, result->inside == 1 ? " is" : "s are", opts->pid);
}

static int off(void *ctx, pid_t pid, struct uspl_err *err)
{
	const struct options *opts = ctx;
	struct marks_switched result;
	auto_view struct view view = { 0 };
	int rc = view_open_any(pid, true, &view, err);

	if (rc)
		return rc;
	rc = marks_off(view.proc, &view.modules, &opts->request, &result, err);
	if (rc) {
		uspl_context(err, "cannot switch markers of pid %d off", opts->pid);
		return rc;
	}
	if (!cli_quiet())
		print_off(opts, &result);
	switched_warn_left_out(opts->pid, result.left_out);
	return 0;
}

int trace_mark(int argc, char **argv, struct uspl_err *err)
{
	static const struct {
		const char *name;
		int (*run)(void *ctx, pid_t pid, struct uspl_err *err);
		const char *changes; /* what the policy and the log call it; NULL: it only looks */
	} verbs[] = { { "list", list, NULL },
		      { "on", on, "trace mark on" },
		      { "off", off, "trace mark off" } };
	struct options opts = { .request = { .session = "" } };
	int rc = parse(&opts, argc, argv, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	cancel_catch();
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(verbs[i].name, opts.verb) != 0)
			continue;
		return verbs[i].changes
			       ? permitted_run(verbs[i].changes, verbs[i].run, &opts, opts.pid, err)
			       : verbs[i].run(&opts, opts.pid, err);
	}
	uspl_fail(err, USPL_E_USAGE, "'%s' is none of list, on and off", opts.verb);
	return -USPL_E_USAGE;
}
