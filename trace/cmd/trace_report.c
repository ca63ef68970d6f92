// SPDX-License-Identifier: GPL-3.0-or-later
// trace_report.c - uspl-trace report: calls and times by function

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "trace/cmd/subcommands.h"
#include "trace/output/formats.h"
#include "trace/output/names.h"
#include "trace/output/reader.h"
#include "trace/output/tracer.h"
#include "trace/tally/tally.h"
#include "trace/tracers/tracers.h"

#define NAME_MAX_LEN 512

/* What is known of a function. */
struct totals {
	uint32_t id;
	/*
	 * Of calls that are over. total counts a call within another one of the same function only
	 * once, sum each.
	 */
	uint64_t calls, total, sum, self, min, max, p99;
	uint64_t left; /* that haven't returned: by longjmp or an exception */
	uint64_t cut;  /* whose own time isn't known: they began before the oldest record */
	uint64_t open, open_max;
};

/* 0 where only the entry is known. */
static uint64_t duration_of(const struct trace_span *span)
{
	return span->record.end ? span->record.end - span->record.start : 0;
}

static double average(const struct totals *totals)
{
	return totals->calls ? (double)totals->sum / (double)totals->calls : 0;
}

static bool is_open(const struct trace_span *span)
{
	return span->record.how == TRACE_OPEN;
}

/* Sorts durations of one function after the other; what is open comes last. */
static int by_id_and_duration(const void *a, const void *b)
{
	const struct trace_span *x = *(const struct trace_span *const *)a;
	const struct trace_span *y = *(const struct trace_span *const *)b;
	uint64_t dx = duration_of(x), dy = duration_of(y);

	if (x->record.id != y->record.id)
		return x->record.id < y->record.id ? -1 : 1;
	if (is_open(x) != is_open(y))
		return is_open(x) ? 1 : -1;
	return dx < dy ? -1 : dx > dy;
}

/* What the report can be sorted by: the largest comes first. */
enum sort_key { SORT_SELF, SORT_CALLS, SORT_TOTAL, SORT_MIN, SORT_AVG, SORT_P99, SORT_MAX };

static const struct {
	const char *name;
	enum sort_key key;
} sort_keys[] = {
	{ "self", SORT_SELF }, { "calls", SORT_CALLS }, { "total", SORT_TOTAL },
	{ "min", SORT_MIN },   { "avg", SORT_AVG },     { "p99", SORT_P99 },
	{ "max", SORT_MAX },
};

static double value_of(const struct totals *totals, enum sort_key key)
{
	switch (key) {
	case SORT_CALLS:
		return (double)totals->calls;
	case SORT_TOTAL:
		return (double)totals->total;
	case SORT_MIN:
		return (double)totals->min;
	case SORT_AVG:
		return average(totals);
	case SORT_P99:
		return (double)totals->p99;
	case SORT_MAX:
		return (double)totals->max;
	case SORT_SELF:
		break;
	}
	return (double)totals->self;
}

static int by_key(const void *a, const void *b, void *key)
{
	double x = value_of(a, *(enum sort_key *)key), y = value_of(b, *(enum sort_key *)key);

	return x > y ? -1 : x < y;
}

static int find_key(const char *name, enum sort_key *ret, struct uspl_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(sort_keys); i++)
		if (!strcmp(sort_keys[i].name, name)) {
			*ret = sort_keys[i].key;
			return 0;
		}
	uspl_fail(err, USPL_E_USAGE, "a report can't be sorted by '%s'", name);
	uspl_hint(err, "it can by 'self', 'calls', 'total', 'min', 'avg', 'p99' and 'max'");
	return -USPL_E_USAGE;
}

typedef VEC(struct totals) totals_vec;

/* Adds up the n spans of one function, which are sorted by duration. */
static int add_up(const struct trace_span *const *spans, size_t n, totals_vec *all,
		  struct uspl_err *err)
{
	struct totals *totals = vec_push(all);
	size_t at;

	if (!totals)
		return uspl_fail_nomem(err);
	*totals = (struct totals){ .id = spans[0]->record.id };
	for (; n && is_open(spans[n - 1]); n--) {
		uint64_t so_far = duration_of(spans[n - 1]);

		totals->open++;
		totals->open_max = so_far > totals->open_max ? so_far : totals->open_max;
	}
	totals->calls = n;
	for (size_t i = 0; i < n; i++) {
		totals->sum += duration_of(spans[i]);
		totals->total += spans[i]->recurses ? 0 : duration_of(spans[i]);
		totals->self += spans[i]->self;
		totals->left += spans[i]->record.how == TRACE_LEFT;
		totals->cut += spans[i]->record.cut;
	}
	if (!n)
		return 0;
	totals->min = duration_of(spans[0]);
	totals->max = duration_of(spans[n - 1]);
	/* The least time that all but one in a hundred don't exceed. */
	at = (99 * n + 99) / 100 - 1;
	totals->p99 = duration_of(spans[at]);
	return 0;
}

static int sum_all(const struct timeline *timeline, enum sort_key key, totals_vec *all,
		   struct uspl_err *err)
{
	size_t n = timeline->calls.n, from = 0;
	auto_free const struct trace_span **spans = calloc(n + 1, sizeof(*spans));
	int rc;

	if (!spans)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		spans[i] = &timeline->calls.items[i];
	qsort(spans, n, sizeof(*spans), by_id_and_duration);
	for (size_t i = 1; n && i <= n; i++) {
		if (i < n && spans[i]->record.id == spans[from]->record.id)
			continue;
		rc = add_up(spans + from, i - from, all, err);
		if (rc)
			return rc;
		from = i;
	}
	if (all->n)
		qsort_r(all->items, all->n, sizeof(*all->items), by_key, &key);
	return 0;
}

/* What a line of the table doesn't say; seldom anything. */
static void print_more(const struct reader *reader, const struct totals *totals)
{
	char buf[NAME_MAX_LEN];
	const char *name = names_of(&reader->names, totals->id, buf, sizeof(buf));

	if (totals->left)
		printf("# %s: %llu calls were left without a return\n", name,
		       (unsigned long long)totals->left);
	if (totals->cut)
		printf("# %s: SELF is without %llu calls that began before the oldest record\n",
		       name, (unsigned long long)totals->cut);
	if (totals->open)
		printf("# %s: %llu calls are open, %.3f us so far\n", name,
		       (unsigned long long)totals->open,
		       (double)totals->open_max * reader->log.ns_per_tick / 1e3);
}

static void print_totals(const struct reader *reader, const totals_vec *all)
{
	double us = reader->log.ns_per_tick / 1e3;
	const struct totals *totals;
	char buf[NAME_MAX_LEN];

	printf("%10s %13s %13s %11s %11s %11s %11s  %s\n", "CALLS", "TOTAL us", "SELF us", "MIN us",
	       "AVG us", "P99 us", "MAX us", "FUNCTION");
	vec_for_each (all, totals) {
		if (!totals->calls)
			continue;
		printf("%10llu %13.3f %13.3f %11.3f %11.3f %11.3f %11.3f  %s\n",
		       (unsigned long long)totals->calls, (double)totals->total * us,
		       (double)totals->self * us, (double)totals->min * us, average(totals) * us,
		       (double)totals->p99 * us, (double)totals->max * us,
		       names_of(&reader->names, totals->id, buf, sizeof(buf)));
	}
	vec_for_each (all, totals)
		print_more(reader, totals);
}

/* Where only entries are known. */
static void print_calls(const struct reader *reader, const totals_vec *all)
{
	const struct totals *totals;
	char buf[NAME_MAX_LEN];

	printf("%10s  %s\n", "CALLS", "FUNCTION");
	vec_for_each (all, totals)
		printf("%10llu  %s\n", (unsigned long long)totals->calls,
		       names_of(&reader->names, totals->id, buf, sizeof(buf)));
}

static void add_times(const struct totals *totals, double us, struct json *json)
{
	json_decimal(json, "total_us", (double)totals->total * us, 3);
	json_decimal(json, "self_us", (double)totals->self * us, 3);
	json_decimal(json, "min_us", (double)totals->min * us, 3);
	json_decimal(json, "avg_us", average(totals) * us, 3);
	json_decimal(json, "p99_us", (double)totals->p99 * us, 3);
	json_decimal(json, "max_us", (double)totals->max * us, 3);
	json_number(json, "left", (int64_t)totals->left);
	json_number(json, "cut", (int64_t)totals->cut);
	json_number(json, "open", (int64_t)totals->open);
	json_decimal(json, "open_us", (double)totals->open_max * us, 3);
}

static void print_json(const struct reader *reader, const totals_vec *all)
{
	double us = reader->log.ns_per_tick / 1e3;
	const struct totals *totals;
	char buf[NAME_MAX_LEN];

	vec_for_each (all, totals) {
		auto_json struct json json = { 0 };

		json_open(&json, NULL, '{');
		json_string(&json, "name", names_of(&reader->names, totals->id, buf, sizeof(buf)));
		json_string(&json, "module", names_module(&reader->names, totals->id));
		json_number(&json, "calls", (int64_t)totals->calls);
		if (!reader->tracer->hook->entries)
			add_times(totals, us, &json);
		json_close(&json, '}');
		printf("%s\n", json_text(&json));
	}
}

static int choose_form(const struct tracer *tracer, const char *name, bool *json,
		       struct uspl_err *err)
{
	const struct format *const formats[FORMATS_MAX] = { &format_text, &format_json };
	const struct format *format;
	int rc = format_choose(tracer, formats, name, &format, err);

	if (rc)
		return rc;
	*json = format == &format_json;
	return 0;
}

static int require_leaks(const struct tracer *tracer, struct uspl_err *err)
{
	if (tracer->tally && tracer->tally->finds_leaks)
		return 0;
	return uspl_fail(err, USPL_E_UNSUPPORTED, "the tracer '%s' knows nothing of leaks",
			 tracer->name);
}

/* Of a tracer that records calls. */
static int report(struct reader *reader, const char *sort, bool json, struct uspl_err *err)
{
	auto_vec totals_vec all = { 0 };
	enum sort_key key = SORT_SELF;
	bool entries;
	int rc;

	reader->tracer = tracer_of(&reader->view.session);
	entries = reader->tracer->hook->entries;
	if (!reader->view.session.regions.n)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "markers have no durations to report on");
	rc = find_key(sort ? sort : entries ? "calls" : "self", &key, err);
	if (rc)
		return rc;
	if (entries && key != SORT_CALLS)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the tracer '%s' records no durations to sort by",
				 reader->tracer->name);
	rc = reader_read(reader, err);
	if (rc)
		return rc;
	rc = sum_all(&reader->timeline, key, &all, err);
	if (rc)
		return rc;
	(json ? print_json : entries ? print_calls : print_totals)(reader, &all);
	reader_print_losses(reader, json ? stderr : stdout);
	return 0;
}

int trace_report(int argc, char **argv, struct uspl_err *err)
{
	struct tally_report_options opts = { 0 };
	const char *form = NULL, *sort = NULL;
	const struct cli_option table[] = {
		{ 0, "json", NULL, CLI_FLAG, &opts.json,
		  "print JSON: an object for each function, or each line" },
		{ 0, "format", "NAME", CLI_STRING, &form, "'text' (default) or 'json', the same" },
		{ 0, "sort", "KEY", CLI_STRING, &sort,
		  "by 'self' (default), 'calls', 'total', 'min', 'avg', 'p99' or 'max'" },
		{ 0, "leaks", NULL, CLI_FLAG, &opts.leaks,
		  "of the tracer 'alloc': find the blocks that nothing points to any more" },
	};
	const struct cli_command cmd = {
		.name = "uspl-trace report",
		.synopsis = "[OPTION]... PID|FILE",
		.summary = "Prints calls and times of each function, by what was recorded",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	const struct reader_wish wish = { .does_more = &opts.leaks };
	auto_reader struct reader reader = { 0 };
	const struct tracer *tracer;
	int rc = reader_open_operand(&cmd, argc, argv, &wish, &reader, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	tracer = tracer_of(&reader.view.session);
	if (form) {
		rc = choose_form(tracer, form, &opts.json, err);
		if (rc)
			return rc;
	}
	if (opts.leaks) {
		rc = require_leaks(tracer, err);
		if (rc)
			return rc;
	}
	if (sort && tracer->tally)
		return uspl_fail(err, USPL_E_USAGE, "'--sort' is for tracers that record calls");
	if (tracer->tally)
		return tally_report(tracer, reader.log.pid, &opts, err);
	return report(&reader, sort, opts.json, err);
}
