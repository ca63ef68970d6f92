// SPDX-License-Identifier: GPL-3.0-or-later
// call_report.c - the report of tracers that add up calls for each thread: count, profile

#include "trace/tally/call_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/output/names.h"

#define NAME_MAX_LEN 512
#define BAR_LEN 40

/* What it can be sorted by: the largest comes first. */
enum call_key { CALL_SELF, CALL_CALLS, CALL_TOTAL, CALL_AVG, CALL_MAX };

static const struct {
	const char *name;
	enum call_key key;
	bool times;
} call_keys[] = {
	{ "self", CALL_SELF, true }, { "calls", CALL_CALLS, false }, { "total", CALL_TOTAL, true },
	{ "avg", CALL_AVG, true },   { "max", CALL_MAX, true },
};

struct call_printer {
	struct tally *tally;
	struct trace_names names;
	struct call_sums sums;
	enum call_key key;
	bool times;
	struct buf *out;
};

static void release(struct call_printer *printer)
{
	names_release(&printer->names);
	call_sums_release(&printer->sums);
}

DEFINE_AUTO_RELEASE(call_printer, struct call_printer, release)
#define auto_call_printer __attribute__((cleanup(cleanup_call_printer_)))

static int find_key(const char *name, bool times, enum call_key *ret, struct uspl_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(call_keys); i++)
		if (!strcmp(call_keys[i].name, name) && (times || !call_keys[i].times)) {
			*ret = call_keys[i].key;
			return 0;
		}
	uspl_fail(err, USPL_E_USAGE, "this report can't be sorted by '%s'", name);
	uspl_hint(err, times ? "it can by 'self', 'calls', 'total', 'avg' and 'max'"
			     : "it can by 'calls' only: no times are known");
	return -USPL_E_USAGE;
}

int call_report_check(const char *sort, bool times, struct uspl_err *err)
{
	enum call_key key;

	return sort ? find_key(sort, times, &key, err) : 0;
}

static double value_of(const struct call_sum *sum, enum call_key key)
{
	switch (key) {
	case CALL_CALLS:
		return (double)sum->calls;
	case CALL_TOTAL:
		return (double)call_sums_total(sum);
	case CALL_AVG:
		return call_sums_average(sum);
	case CALL_MAX:
		return (double)sum->cell.max;
	case CALL_SELF:
		break;
	}
	return (double)call_sums_self(sum);
}

static int by_thread_and_key(const void *a, const void *b, void *ctx)
{
	const struct call_printer *printer = ctx;
	const struct call_sum *x = a, *y = b;
	double vx = value_of(x, printer->key), vy = value_of(y, printer->key);

	if (printer->tally->opts->per_thread && x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (vx != vy)
		return vx > vy ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* The upper bound of a bucket in ns; the last one has none. */
static uint64_t bound_of(size_t bucket)
{
	return 1ull << (USPL_SUMS_FIRST_LOG + bucket);
}

static void add_histogram(const struct call_sum *sum, struct buf *out)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	const uint64_t *buckets = sum->cell.buckets;
	size_t first = 0, end = USPL_SUMS_BUCKETS;
	uint64_t most = 1;

	while (end && !buckets[end - 1])
		end--;
	while (first < end && !buckets[first])
		first++;
	for (size_t i = first; i < end; i++)
		most = buckets[i] > most ? buckets[i] : most;
	for (size_t i = first; i < end; i++) {
		int len = (int)((double)buckets[i] / (double)most * BAR_LEN);
		bool last = i == USPL_SUMS_BUCKETS - 1;
		double bound = (double)bound_of(last ? i - 1 : i);
		size_t unit = 0;

		for (; bound >= 1000 && unit < ARRAY_SIZE(units) - 1; unit++)
			bound /= 1000;
		buf_addf(out, "%15s %6.4g %-2s", last ? "from" : "below", bound, units[unit]);
		buf_addf(out, " %12" PRIu64 " |%-*.*s|\n", buckets[i], BAR_LEN, len,
			 "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@");
	}
}

static const char *name_of(const struct call_printer *printer, const struct call_sum *sum,
			   char *buf)
{
	return names_of(&printer->names, sum->id, buf, NAME_MAX_LEN);
}

static void add_head(const struct call_printer *printer)
{
	if (printer->times)
		buf_addf(printer->out, "%12s %15s %15s %13s %13s  %s\n", "CALLS", "TOTAL us",
			 "SELF us", "AVG us", "MAX us", "FUNCTION");
	else
		buf_addf(printer->out, "%12s  %s\n", "CALLS", "FUNCTION");
}

static void add_line(const struct call_printer *printer, const struct call_sum *sum)
{
	const struct tally *tally = printer->tally;
	char buf[NAME_MAX_LEN];

	buf_addf(printer->out, "%12" PRIu64, sum->calls);
	if (printer->times)
		buf_addf(printer->out, " %15.3f %15.3f %13.3f %13.3f",
			 tally_us(tally, call_sums_total(sum)),
			 tally_us(tally, call_sums_self(sum)),
			 call_sums_average(sum) * tally->ns_per_tick / 1e3,
			 tally_us(tally, sum->cell.max));
	buf_addf(printer->out, "  %s\n", name_of(printer, sum, buf));
	if (tally->opts->histogram)
		add_histogram(sum, printer->out);
}

/* What a line of the table doesn't say; seldom anything. */
static void add_more(const struct call_printer *printer, const struct call_sum *sum)
{
	char buf[NAME_MAX_LEN];
	const char *name = name_of(printer, sum, buf);

	if (sum->cell.left)
		buf_addf(printer->out, "# %s: %" PRIu64 " calls were left without a return\n", name,
			 sum->cell.left);
	if (sum->cell.untimed)
		buf_addf(printer->out,
			 "# %s: %" PRIu64 " of them with their threads, it isn't known when\n",
			 name, sum->cell.untimed);
	if (sum->open)
		buf_addf(printer->out,
			 "# %s: %" PRIu64 " calls are open, %.3f us so far, which TOTAL and SELF "
			 "have\n",
			 name, sum->open, tally_us(printer->tally, sum->open_sum));
}

static void add_text(const struct call_printer *printer)
{
	const bool per_thread = printer->tally->opts->per_thread;
	const struct call_sum *rows = printer->sums.rows.items;
	size_t n = printer->sums.rows.n, end;

	if (!n)
		add_head(printer);
	for (size_t i = 0; i < n; i = end) {
		if (per_thread) {
			const struct call_thread *thread =
				&printer->sums.threads.items[rows[i].thread];

			buf_addf(printer->out, "# thread %d", thread->tid);
			if (thread->earlier)
				buf_addf(printer->out, " and %" PRIu64 " that ended before it",
					 thread->earlier);
			buf_addstr(printer->out, "\n");
		}
		add_head(printer);
		for (end = i; end < n && (!per_thread || rows[end].thread == rows[i].thread); end++)
			if (rows[end].calls)
				add_line(printer, &rows[end]);
		for (size_t k = i; k < end; k++)
			add_more(printer, &rows[k]);
	}
}

static void json_add_times(const struct tally *tally, const struct call_sum *sum, struct json *json)
{
	json_ns(json, "total_ns", tally_ns(tally, call_sums_total(sum)));
	json_ns(json, "self_ns", tally_ns(tally, call_sums_self(sum)));
	json_ns(json, "avg_ns", call_sums_average(sum) * tally->ns_per_tick);
	json_ns(json, "max_ns", tally_ns(tally, sum->cell.max));
	json_number(json, "left", (int64_t)sum->cell.left);
	json_number(json, "untimed", (int64_t)sum->cell.untimed);
	json_number(json, "open", (int64_t)sum->open);
	json_ns(json, "open_ns", tally_ns(tally, sum->open_sum));
	json_open(json, "histogram", '[');
	for (size_t i = 0; i < USPL_SUMS_BUCKETS; i++) {
		if (!sum->cell.buckets[i])
			continue;
		json_open(json, NULL, '{');
		json_number(json, "from_ns", i ? (int64_t)bound_of(i - 1) : 0);
		json_number(json, "calls", (int64_t)sum->cell.buckets[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void add_json(const struct call_printer *printer)
{
	const struct call_sum *sum;
	char buf[NAME_MAX_LEN];

	vec_for_each (&printer->sums.rows, sum) {
		auto_json struct json json = { 0 };

		json_open(&json, NULL, '{');
		json_string(&json, "name", name_of(printer, sum, buf));
		json_string(&json, "module", names_module(&printer->names, sum->id));
		if (printer->tally->opts->per_thread)
			json_number(&json, "tid", printer->sums.threads.items[sum->thread].tid);
		json_number(&json, "calls", (int64_t)sum->calls);
		if (printer->times)
			json_add_times(printer->tally, sum, &json);
		json_close(&json, '}');
		tally_take_json(&json, printer->out);
	}
}

int call_report(struct tally *tally, bool json, struct buf *out, struct uspl_err *err)
{
	const struct view *view = &tally->view;
	const char *sort = tally->opts->sort;
	auto_call_printer struct call_printer printer = {
		.tally = tally,
		.out = out,
		.times = tally->config.head.job == USPL_LISTEN_PROFILE,
	};
	int rc = find_key(sort            ? sort
			  : printer.times ? "self"
					  : "calls",
			  printer.times, &printer.key, err);

	if (rc)
		return rc;
	rc = names_find(view->proc, &view->modules, &view->session, &printer.names, err);
	if (rc)
		return rc;
	rc = call_sums_read(tally, &printer.sums, err);
	if (rc)
		return rc;
	if (!tally->opts->per_thread)
		call_sums_merge(&printer.sums);
	if (printer.sums.rows.n)
		qsort_r(printer.sums.rows.items, printer.sums.rows.n,
			sizeof(*printer.sums.rows.items), by_thread_and_key, &printer);
	(json ? add_json : add_text)(&printer);
	tally->config.head.missed += printer.sums.lost;
	if (printer.sums.left_out)
		fprintf(stderr, "uspl-trace: warning: %" PRIu64 " MiB of tables were not read\n",
			printer.sums.left_out >> 20);
	return 0;
}
