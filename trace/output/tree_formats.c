// SPDX-License-Identifier: GPL-3.0-or-later
// tree_formats.c - the forms of output that are made of call chains which were counted

#include "trace/output/tree_formats.h"

#include "trace/output/flame.h"
#include "trace/output/formats.h"
#include "trace/output/page.h"

bool tree_has_format(const struct format *format)
{
	return format == &format_folded || format == &format_svg || format == &format_html;
}

void tree_add(const struct format *format, const struct calltree *tree,
	      const struct page_head *head, const char *unit, struct buf *out)
{
	auto_buf struct buf title = { 0 };

	if (format == &format_html) {
		page_add_tree(tree, head, unit, out);
		return;
	}
	if (format == &format_folded) {
		calltree_add_folded(tree, out);
		return;
	}
	buf_addf(&title, "%s, pid %d: %s", head->command, head->pid, unit);
	flame_add_svg(tree, buf_str(&title), unit, out);
	out->oom |= title.oom;
}
