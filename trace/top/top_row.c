// SPDX-License-Identifier: GPL-3.0-or-later
// top_row.c - a line of a table of functions: what it can be sorted and filtered by

#include "trace/top/top_row.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NAME_MAX_LEN 512

static const struct {
	const char *name;
	char letter;
} keys[] = {
	[TOP_SELF] = { "self", 's' },   [TOP_CALLS] = { "calls", 'c' },
	[TOP_TOTAL] = { "total", 't' }, [TOP_AVG] = { "avg", 'a' },
	[TOP_P99] = { "p99", 'p' },     [TOP_MAX] = { "max", 'm' },
	[TOP_NAME] = { "name", 'n' },
};

int top_key_find(const char *name, enum top_key *ret, struct uspl_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].name, name)) {
			*ret = (enum top_key)i;
			return 0;
		}
	uspl_fail(err, USPL_E_USAGE, "functions can't be sorted by '%s'", name);
	uspl_hint(err, "they can by 'self', 'calls', 'total', 'avg', 'p99', 'max' and 'name'");
	return -USPL_E_USAGE;
}

const char *top_key_name(enum top_key key)
{
	return keys[key].name;
}

bool top_key_by_letter(int letter, enum top_key *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].letter == letter) {
			*ret = (enum top_key)i;
			return true;
		}
	return false;
}

static double value_of(const struct top_row *row, enum top_key key)
{
	switch (key) {
	case TOP_CALLS:
		return (double)row->calls;
	case TOP_TOTAL:
		return row->total;
	case TOP_AVG:
		return row->avg;
	case TOP_P99:
		return row->p99;
	case TOP_MAX:
		return row->max;
	default:
		return row->self;
	}
}

struct order {
	const struct trace_names *names;
	enum top_key key;
};

static int in_order(const void *a, const void *b, void *ctx)
{
	const struct order *order = ctx;
	const struct top_row *x = a, *y = b;
	double vx = value_of(x, order->key), vy = value_of(y, order->key);
	char nx[NAME_MAX_LEN], ny[NAME_MAX_LEN];

	if (x->chosen != y->chosen)
		return x->chosen ? -1 : 1;
	if (order->key != TOP_NAME && vx != vy)
		return vx > vy ? -1 : 1;
	return strcmp(names_of(order->names, x->id, nx, sizeof(nx)),
		      names_of(order->names, y->id, ny, sizeof(ny)));
}

size_t top_row_sort(top_row_vec *rows, const struct trace_names *names, enum top_key key,
		    const char *filter)
{
	bool glob = strpbrk(filter, "*?[");
	struct top_row *row;
	size_t n = 0;

	vec_for_each (rows, row) {
		char buf[NAME_MAX_LEN];
		const char *name = names_of(names, row->id, buf, sizeof(buf));

		row->chosen = glob ? !fnmatch(filter, name, 0) : strstr(name, filter) != NULL;
		n += row->chosen;
	}
	if (rows->n)
		qsort_r(rows->items, rows->n, sizeof(*rows->items), in_order,
			&(struct order){ names, key });
	return n;
}

void top_row_add_name(const struct trace_names *names, uint32_t id, struct buf *out)
{
	char buf[NAME_MAX_LEN];
	const char *name = names_of(names, id, buf, sizeof(buf));

	text_add_printable(out, name, strlen(name), false);
}

void top_row_add_head(struct buf *out)
{
	buf_addf(out, "%12s %12s %12s %5s  %s", "AVG us", "P99 us", "MAX us", "OPEN", "FUNCTION");
}

void top_row_add(const struct top_row *row, const struct trace_names *names, struct buf *out)
{
	buf_addf(out, "%12.3f %12.3f %12.3f %5" PRIu64 "  ", row->avg / 1e3, row->p99 / 1e3,
		 row->max / 1e3, row->open);
	top_row_add_name(names, row->id, out);
}
