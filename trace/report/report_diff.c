// SPDX-License-Identifier: GPL-3.0-or-later
// report_diff.c - uspl-trace report --diff: a report beside that of an older trace

#include "trace/report/report_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "trace/output/names.h"
#include "trace/output/reader.h"
#include "trace/output/tracer.h"
#include "trace/tracers/tracers.h"

#define NAME_MAX_LEN 256

/* Numbers of one function, from one trace or from both; never from none. */
struct pair {
	const struct totals *now, *before;
	double difference; /* by the key */
};

typedef VEC(struct pair) pair_vec;

/* Both traces. */
struct diff {
	struct reader *now, *before;
	const struct report_style *style;
};

/* A function of one trace as it can be found in the other. */
struct named {
	const struct totals *totals;
	const char *name, *module; /* name: NULL if it is in buf */
	char buf[NAME_MAX_LEN];
};

typedef VEC(struct named) named_vec;

static const char *name_of(const struct named *named)
{
	return named->name ? named->name : named->buf;
}

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(name_of(x), name_of(y));

	return order ? order : strcmp(x->module, y->module);
}

/* The functions of a trace, sorted by name. */
static int name_all(const struct reader *reader, const totals_vec *all, named_vec *ret,
		    struct uspl_err *err)
{
	const struct totals *totals;

	vec_for_each (all, totals) {
		struct named *named = vec_push(ret);
		const char *name;

		if (!named)
			return uspl_fail_nomem(err);
		named->totals = totals;
		named->module = names_module(&reader->names, totals->id);
		name = names_of(&reader->names, totals->id, named->buf, sizeof(named->buf));
		named->name = name == named->buf ? NULL : name;
	}
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), by_name);
	return 0;
}

static double ns_of(const struct reader *reader, const struct totals *totals, enum report_key key)
{
	if (!totals)
		return 0;
	return report_value(totals, key) * (key == REPORT_CALLS ? 1 : reader->log.ns_per_tick);
}

/* Merges both sorted lists. Of several functions of one name the first belongs to the first. */
static int pair_up(const struct diff *diff, const named_vec *now, const named_vec *before,
		   enum report_key key, pair_vec *pairs, struct uspl_err *err)
{
	size_t i = 0, j = 0;

	while (i < now->n || j < before->n) {
		int order = i == now->n      ? 1
			    : j == before->n ? -1
					     : by_name(&now->items[i], &before->items[j]);
		const struct totals *new = order <= 0 ? now->items[i++].totals : NULL;
		const struct totals *old = order >= 0 ? before->items[j++].totals : NULL;
		struct pair *pair = vec_push(pairs);
		double difference = ns_of(diff->now, new, key) - ns_of(diff->before, old, key);

		if (!pair)
			return uspl_fail_nomem(err);
		*pair = (struct pair){ new, old, difference < 0 ? -difference : difference };
	}
	return 0;
}

static int by_difference(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return x->difference > y->difference ? -1 : x->difference < y->difference;
}

/* One number, and its difference. */
static void print_number(const struct diff *diff, const struct pair *pair, enum report_key key)
{
	double now = ns_of(diff->now, pair->now, key);
	double before = ns_of(diff->before, pair->before, key);

	if (key == REPORT_CALLS)
		printf("%10.0f %+10.0f", now, now - before);
	else
		printf(" %13.3f %+13.3f", now / 1e3, (now - before) / 1e3);
}

static void print_text(const struct diff *diff, const struct pair *pair)
{
	struct reader *from = pair->now ? diff->now : diff->before;
	uint32_t id = (pair->now ? pair->now : pair->before)->id;
	char buf[NAME_MAX_LEN];

	print_number(diff, pair, REPORT_CALLS);
	if (!diff->style->entries) {
		print_number(diff, pair, REPORT_TOTAL);
		print_number(diff, pair, REPORT_SELF);
		print_number(diff, pair, REPORT_AVG);
	}
	printf("  %s%s\n", names_of(&from->names, id, buf, sizeof(buf)),
	       !pair->before ? " (new)"
	       : !pair->now  ? " (gone)"
			     : "");
}

static void print_json(const struct diff *diff, const struct pair *pair)
{
	struct reader *from = pair->now ? diff->now : diff->before;
	uint32_t id = (pair->now ? pair->now : pair->before)->id;
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	report_add_function(from, id, diff->style, &json);
	report_add_numbers(diff->now, pair->now, diff->style->entries, &json);
	json_open(&json, "before", '{');
	report_add_numbers(diff->before, pair->before, diff->style->entries, &json);
	json_close(&json, '}');
	json_close(&json, '}');
	printf("%s\n", json_text(&json));
}

int report_diff(struct reader *reader, const totals_vec *all, const char *path, enum report_key key,
		const struct report_style *style, struct uspl_err *err)
{
	auto_reader struct reader older = { 0 };
	struct diff diff = { reader, &older, style };
	auto_vec totals_vec before = { 0 };
	auto_vec named_vec now_named = { 0 }, before_named = { 0 };
	auto_vec pair_vec pairs = { 0 };
	const struct pair *pair;
	int rc = reader_open_file(path, &older, err);

	if (rc)
		return rc;
	older.tracer = tracer_of(&older.view.session);
	if (!older.view.session.regions.n || older.tracer->hook->entries != style->entries)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "'%s' can't be compared: only one of both traces has durations",
				 path);
	rc = reader_read(&older, err);
	if (rc)
		return rc;
	rc = totals_make(&older.timeline, totals_by_function, NULL, &before, err);
	if (rc)
		return rc;
	rc = name_all(reader, all, &now_named, err);
	if (rc)
		return rc;
	rc = name_all(&older, &before, &before_named, err);
	if (rc)
		return rc;
	rc = pair_up(&diff, &now_named, &before_named, key, &pairs, err);
	if (rc)
		return rc;
	if (pairs.n)
		qsort(pairs.items, pairs.n, sizeof(*pairs.items), by_difference);
	if (!style->json) {
		printf("%10s %10s", "CALLS", "DIFF");
		if (!style->entries)
			printf(" %13s %13s %13s %13s %13s %13s", "TOTAL us", "DIFF", "SELF us",
			       "DIFF", "AVG us", "DIFF");
		printf("  FUNCTION\n");
	}
	vec_for_each (&pairs, pair)
		(style->json ? print_json : print_text)(&diff, pair);
	reader_print_losses(&older, stderr);
	return 0;
}
