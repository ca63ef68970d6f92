/* SPDX-License-Identifier: GPL-3.0-or-later */
/* top_table.h - rows as lines of text, and as JSON */
#ifndef USPL_TRACE_TOP_TOP_TABLE_H
#define USPL_TRACE_TOP_TOP_TABLE_H

#include "trace/top/top_callers.h"

/* All of them append one line without its end, which a terminal may be shown. */
void top_table_title(const struct top_rows *rows, struct buf *out);
void top_table_head(struct buf *out);
void top_table_row(const struct top_rows *rows, const struct top_row *row, struct buf *out);
void top_table_callers_title(const struct top_rows *rows, const struct top_callers *callers,
			     struct buf *out);
void top_table_callers_head(struct buf *out);
void top_table_caller(struct top_rows *rows, const struct top_callers *callers,
		      const struct top_caller *caller, struct buf *out);
/* The same as JSON objects. */
void top_table_json_title(const struct top_rows *rows, size_t n, struct buf *out);
void top_table_json(const struct top_rows *rows, const struct top_row *row, struct buf *out);

#endif
