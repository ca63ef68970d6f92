// SPDX-License-Identifier: GPL-3.0-or-later
// page.c - a trace as a page for a browser
//
// page.html, page.css and page.js are parts of the tools, the data are JSON within the page.

#include "trace/output/page.h"

#include "command/html.h"
#include "trace/output/calltree.h"

/* page_parts.S */
extern const char uspl_page_html_begin[], uspl_page_html_end[], uspl_page_css_begin[],
	uspl_page_css_end[], uspl_page_js_begin[], uspl_page_js_end[];

#define PART(name)                                                                                 \
	{                                                                                          \
		uspl_page_##name##_begin, uspl_page_##name##_end - uspl_page_##name##_begin        \
	}

void page_open(struct json *json, const struct page_head *head)
{
	json_open(json, NULL, '{');
	json_string(json, "command", head->command);
	json_string(json, "tracer", head->tracer);
	json_number(json, "pid", head->pid);
	json_number(json, "overwritten", (int64_t)head->overwritten);
	json_number(json, "unrecorded", (int64_t)head->unrecorded);
	json_number(json, "kernel_lost", (int64_t)head->kernel_lost);
}

void page_close(struct json *json, struct buf *out)
{
	struct html_page page = {
		.title = "uspl-trace",
		.style = PART(css),
		.body = uspl_page_html_begin,
		.body_len = (size_t)(uspl_page_html_end - uspl_page_html_begin),
		.script = PART(js),
	};

	json_close(json, '}');
	page.data = json_text(json);
	html_add_page(out, &page);
	out->oom |= json->buf.oom;
}

/* Which of the symbols are in the tree, by their ids; the others' places are NULL. */
static const struct symbol **symbols_of(const struct calltree *tree, size_t *ret_n)
{
	const struct calltree_node *node;
	const struct symbol **symbols;
	size_t n = 0;

	vec_for_each (&tree->nodes, node)
		n = node->symbol->id >= n ? node->symbol->id + 1 : n;
	symbols = calloc(n + 1, sizeof(*symbols));
	vec_for_each (&tree->nodes, node)
		if (symbols)
			symbols[node->symbol->id] = node->symbol;
	*ret_n = symbols ? n : 0;
	return symbols;
}

void page_add_tree(const struct calltree *tree, const struct page_head *head, const char *unit,
		   struct buf *out)
{
	size_t n;
	auto_free const struct symbol **symbols = symbols_of(tree, &n);
	const struct calltree_node *node;
	auto_json struct json json = { 0 };

	page_open(&json, head);
	json_string(&json, "unit", unit);
	json_open(&json, "marks", '[');
	json_close(&json, ']');
	json_open(&json, "names", '[');
	for (size_t i = 0; i < n; i++) {
		json_open(&json, NULL, '[');
		json_string(&json, NULL, symbols[i] ? symbols[i]->name : "");
		json_string(&json, NULL, symbols[i] ? symbols[i]->module : "");
		json_close(&json, ']');
	}
	json_close(&json, ']');
	json_open(&json, "tree", '[');
	vec_for_each (&tree->nodes, node) {
		json_open(&json, NULL, '[');
		json_number(&json, NULL,
			    node->parent == CALLTREE_ROOT ? -1 : (int64_t)node->parent);
		json_number(&json, NULL, node->symbol->id);
		json_number(&json, NULL, (int64_t)node->self);
		json_close(&json, ']');
	}
	json_close(&json, ']');
	page_close(&json, out);
	out->oom |= !symbols;
}
