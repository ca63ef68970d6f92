/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.h - aligned columns for people */
#ifndef USPL_VIEW_TABLE_H
#define USPL_VIEW_TABLE_H

#include "base/buf.h"
#include "base/strvec.h"

struct table {
	size_t columns;
	strvec cells; /* row by row; the first row is the heading */
	bool oom;
};

/* Adds a cell, made fit for a terminal; a row is full when every column has one. */
void table_add(struct table *table, const char *text);
/* The same, formatted. */
void table_addf(struct table *table, const char *fmt, ...) uspl_printf(2, 3);
/* Appends all rows to buf, each behind `indent`. Running out of memory shows in buf->oom. */
void table_render(const struct table *table, const char *indent, struct buf *buf);
/* Frees the cells. */
void table_release(struct table *table);

DEFINE_AUTO_RELEASE(table, struct table, table_release)
#define auto_table __attribute__((cleanup(cleanup_table_)))

#endif
