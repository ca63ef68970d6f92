// SPDX-License-Identifier: GPL-3.0-or-later
// table.c - aligned columns for people

#include "view/table.h"

#include <stdarg.h>
#include <string.h>

#include "base/text.h"

#define GAP "  "

void table_add(struct table *table, const char *text)
{
	struct buf cell = { 0 };
	char **place = vec_push(&table->cells);

	/* An empty cell must not look like a missing one. */
	text_add_printable(&cell, *text ? text : "-", *text ? strlen(text) : 1, false);
	if (place)
		*place = buf_take(&cell);
	else
		buf_release(&cell);
	table->oom |= !place || !*place;
}

void table_addf(struct table *table, const char *fmt, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	table_add(table, text);
}

void table_render(const struct table *table, const char *indent, struct buf *buf)
{
	VEC(size_t) widths = { 0 };
	bool oom = table->oom;

	for (size_t column = 0; column < table->columns; column++) {
		size_t *width = vec_push(&widths);

		oom |= !width;
		if (width)
			*width = 0;
		for (size_t i = column; width && i < table->cells.n; i += table->columns) {
			size_t w = text_width(table->cells.items[i]);

			*width = w > *width ? w : *width;
		}
	}
	for (size_t i = 0; !oom && i < table->cells.n; i++) {
		const char *cell = table->cells.items[i];
		size_t column = i % table->columns;

		buf_addf(buf, "%s%s", column ? GAP : indent, cell);
		/* No spaces behind the last column. */
		if (column + 1 == table->columns)
			buf_addstr(buf, "\n");
		else
			buf_addf(buf, "%*s", (int)(widths.items[column] - text_width(cell)), "");
	}
	vec_release(&widths);
	buf->oom |= oom;
}

void table_release(struct table *table)
{
	strvec_release(&table->cells);
}
