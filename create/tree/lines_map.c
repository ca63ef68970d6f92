// SPDX-License-Identifier: GPL-3.0-or-later
// lines_map.c - from the numbers that the compiler has counted back to the lines of the text

#include "create/tree/lines_map.h"

#include <string.h>

static int by_number(const void *a, const void *b)
{
	const struct numbered_line *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

int lines_map_add(lines_map *map, const char *path, const struct buf *compiled, bool numbered,
		  struct uspl_err *err)
{
	struct numbered_source *source = vec_push(map);
	auto_lines line_list lines = { 0 };
	size_t number = 1;
	int rc;

	if (!source || !(source->path = strdup(path)))
		return uspl_fail_nomem(err);
	rc = lines_split(buf_str(compiled), compiled->len, &lines, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < lines.n; i++) {
		size_t set = numbered ? lines_directive(&lines.items[i]) : 0;
		struct numbered_line *line;

		if (set) {
			number = set;
			continue;
		}
		line = vec_push(&source->lines);
		if (!line)
			return uspl_fail_nomem(err);
		*line = (struct numbered_line){ number++, source->lines.n };
		buf_add(&source->text, lines.items[i].text, lines.items[i].len);
	}
	if (source->lines.n)
		qsort(source->lines.items, source->lines.n, sizeof(*source->lines.items),
		      by_number);
	return source->text.oom ? uspl_fail_nomem(err) : 0;
}

const struct numbered_source *lines_map_find(const lines_map *map, const char *path)
{
	const struct numbered_source *source;

	vec_for_each (map, source)
		if (!strcmp(source->path, path))
			return source;
	return NULL;
}

size_t lines_map_line(const struct numbered_source *source, size_t number)
{
	size_t i = vec_lower_bound(&source->lines, it, it->number < number);

	return i < source->lines.n && source->lines.items[i].number == number
		       ? source->lines.items[i].line
		       : number;
}

void lines_map_release(lines_map *map)
{
	struct numbered_source *source;

	vec_for_each (map, source) {
		free(source->path);
		buf_release(&source->text);
		vec_release(&source->lines);
	}
	vec_release(map);
}
