// SPDX-License-Identifier: GPL-3.0-or-later
// report_rows.c - the lines of uspl-trace report

#include "trace/report/report_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "trace/output/names.h"
#include "trace/output/reader.h"

#define NAME_MAX_LEN 512

static const struct {
	const char *name;
	enum report_key key;
} keys[] = {
	{ "self", REPORT_SELF }, { "calls", REPORT_CALLS }, { "total", REPORT_TOTAL },
	{ "min", REPORT_MIN },   { "avg", REPORT_AVG },     { "p99", REPORT_P99 },
	{ "max", REPORT_MAX },
};

int report_find_key(const char *name, enum report_key *ret, struct uspl_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].name, name)) {
			*ret = keys[i].key;
			return 0;
		}
	uspl_fail(err, USPL_E_USAGE, "a report can't be sorted by '%s'", name);
	uspl_hint(err, "it can by 'self', 'calls', 'total', 'min', 'avg', 'p99' and 'max'");
	return -USPL_E_USAGE;
}

double report_value(const struct totals *totals, enum report_key key)
{
	switch (key) {
	case REPORT_CALLS:
		return (double)totals->calls;
	case REPORT_TOTAL:
		return (double)totals->total;
	case REPORT_MIN:
		return (double)totals->min;
	case REPORT_AVG:
		return totals_average(totals);
	case REPORT_P99:
		return (double)totals->p99;
	case REPORT_MAX:
		return (double)totals->max;
	case REPORT_SELF:
		break;
	}
	return (double)totals->self;
}

static int by_key(const void *a, const void *b, void *key)
{
	double x = report_value(a, *(enum report_key *)key);
	double y = report_value(b, *(enum report_key *)key);

	return x > y ? -1 : x < y;
}

void report_sort(totals_vec *all, enum report_key key)
{
	if (all->n)
		qsort_r(all->items, all->n, sizeof(*all->items), by_key, &key);
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

static void print_text(struct reader *reader, const totals_vec *all,
		       const struct report_style *style)
{
	double us = reader->log.ns_per_tick / 1e3;
	char buf[NAME_MAX_LEN];
	const struct totals *totals;
	const char *line;

	if (style->entries)
		printf("%10s  %s\n", "CALLS", "FUNCTION");
	else
		printf("%10s %13s %13s %11s %11s %11s %11s  %s\n", "CALLS", "TOTAL us", "SELF us",
		       "MIN us", "AVG us", "P99 us", "MAX us", "FUNCTION");
	vec_for_each (all, totals) {
		if (!totals->calls)
			continue;
		printf("%10llu", (unsigned long long)totals->calls);
		if (!style->entries)
			printf(" %13.3f %13.3f %11.3f %11.3f %11.3f %11.3f",
			       (double)totals->total * us, (double)totals->self * us,
			       (double)totals->min * us, totals_average(totals) * us,
			       (double)totals->p99 * us, (double)totals->max * us);
		line = style->lines ? names_line(&reader->names, totals->id) : NULL;
		printf("  %s%s%s%s\n", names_of(&reader->names, totals->id, buf, sizeof(buf)),
		       line ? " (" : "", line ? line : "", line ? ")" : "");
	}
	vec_for_each (all, totals)
		print_more(reader, totals);
}

void report_add_function(struct reader *reader, uint32_t id, const struct report_style *style,
			 struct json *json)
{
	char buf[NAME_MAX_LEN];
	const char *line = style->lines ? names_line(&reader->names, id) : NULL;
	const char *colon = line ? strrchr(line, ':') : NULL;

	json_string(json, "name", names_of(&reader->names, id, buf, sizeof(buf)));
	json_string(json, "module", names_module(&reader->names, id));
	if (colon) {
		json_bytes(json, "file", line, (size_t)(colon - line));
		json_number(json, "line", strtol(colon + 1, NULL, 10));
	}
}

void report_add_numbers(const struct reader *reader, const struct totals *totals, bool entries,
			struct json *json)
{
	static const struct totals none;
	double ns = reader->log.ns_per_tick;

	if (!totals)
		totals = &none;
	json_number(json, "calls", (int64_t)totals->calls);
	if (entries)
		return;
	json_ns(json, "total_ns", (double)totals->total * ns);
	json_ns(json, "self_ns", (double)totals->self * ns);
	json_ns(json, "min_ns", (double)totals->min * ns);
	json_ns(json, "avg_ns", totals_average(totals) * ns);
	json_ns(json, "p99_ns", (double)totals->p99 * ns);
	json_ns(json, "max_ns", (double)totals->max * ns);
}

void report_print(struct reader *reader, const totals_vec *all, const struct report_style *style)
{
	const struct totals *totals;

	if (!style->json) {
		print_text(reader, all, style);
		return;
	}
	vec_for_each (all, totals) {
		auto_json struct json json = { 0 };

		json_open(&json, NULL, '{');
		if (style->relation)
			json_string(&json, "relation", style->relation);
		report_add_function(reader, totals->id, style, &json);
		report_add_numbers(reader, totals, style->entries, &json);
		if (!style->entries) {
			json_number(&json, "left", (int64_t)totals->left);
			json_number(&json, "cut", (int64_t)totals->cut);
			json_number(&json, "open", (int64_t)totals->open);
			json_ns(&json, "open_ns",
				(double)totals->open_max * reader->log.ns_per_tick);
		}
		json_close(&json, '}');
		printf("%s\n", json_text(&json));
	}
}
