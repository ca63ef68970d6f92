// SPDX-License-Identifier: GPL-3.0-or-later
// flame.c - call chains as a flame graph
//
// There is no script in it, so that it can be put into any page. What a frame stands for is in its
// <title>, which browsers show when the pointer is on it.

#include "trace/output/flame.h"

#include <inttypes.h>
#include <string.h>

#include "command/html.h"
#include "base/text.h"

#define WIDTH 1200.0
#define ROW 17
#define HEAD 28       /* above the frames: the title */
#define NARROWEST 0.3 /* frames below that many pixels are left out */
#define SIGN_WIDTH 6.6

/* Where a frame is drawn. */
struct place {
	double x, width; /* width 0: nowhere */
	double next;     /* where the next one of those that it calls begins */
	uint32_t depth;
};

struct picture {
	const struct calltree *tree;
	const uint64_t *totals;
	const char *unit;
	uint64_t all;
	struct place *places;
	uint32_t deepest;
};

/* A caller stands before those that it calls, so each frame's place is within one that is known. */
static void lay_out(struct picture *picture)
{
	struct place root = { .width = WIDTH };

	for (size_t i = 0; i < picture->tree->nodes.n; i++) {
		uint32_t parent = picture->tree->nodes.items[i].parent;
		struct place *place = &picture->places[i];
		struct place *below = parent == CALLTREE_ROOT ? &root : &picture->places[parent];
		double width = WIDTH * (double)picture->totals[i] / (double)picture->all;

		if (width < NARROWEST || (parent != CALLTREE_ROOT && below->width == 0))
			continue;
		*place = (struct place){ below->x + below->next, width, 0,
					 parent == CALLTREE_ROOT ? 0 : below->depth + 1 };
		below->next += width;
		if (place->depth > picture->deepest)
			picture->deepest = place->depth;
	}
}

/* As much of the name as there is room for. */
static void add_label(struct buf *out, const char *name, double width)
{
	size_t most = width > 6 ? (size_t)((width - 6) / SIGN_WIDTH) : 0, len = strlen(name);
	auto_buf struct buf shown = { 0 };
	size_t at = 0, n, signs = 0;
	uint32_t c;

	if (most < 3)
		return;
	for (; at < len && signs < most; at += n, signs++) {
		n = text_decode(name + at, len - at, &c);
		n = n ? n : 1;
		if (signs + 1 == most && at + n < len)
			break;
		buf_add(&shown, name + at, n);
	}
	html_add_text(out, buf_str(&shown));
	buf_addstr(out, at < len ? "\xe2\x80\xa6" : ""); /* an ellipsis */
	out->oom |= shown.oom;
}

static void add_frame(const struct picture *picture, size_t i, struct buf *out)
{
	const struct calltree_node *node = &picture->tree->nodes.items[i];
	const struct place *place = &picture->places[i];
	uint32_t hash = 0;
	double y = HEAD + (double)(picture->deepest - place->depth) * ROW;

	buf_addstr(out, "<g><title>");
	html_add_text(out, node->symbol->name);
	if (node->symbol->module[0]) {
		buf_addstr(out, " (");
		html_add_text(out, node->symbol->module);
		buf_addstr(out, ")");
	}
	buf_addf(out, ": %" PRIu64 " %s, %.2f %%; own %" PRIu64 " %s</title>", picture->totals[i],
		 picture->unit, 100 * (double)picture->totals[i] / (double)picture->all, node->self,
		 picture->unit);
	buf_addf(out, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"", place->x,
		 y, place->width, ROW - 1);
	/* Warm colours, the same for the same name. */
	for (const char *name = node->symbol->name; *name; name++)
		hash = hash * 31 + (unsigned char)*name;
	buf_addf(out, "rgb(%u,%u,%u)", 215 + hash % 40, 110 + (hash >> 8) % 100, (hash >> 16) % 70);
	buf_addf(out, "\"/><text x=\"%.2f\" y=\"%.0f\">", place->x + 3, y + 12);
	add_label(out, node->symbol->name, place->width);
	buf_addstr(out, "</text></g>\n");
}

void flame_add_svg(const struct calltree *tree, const char *title, const char *unit,
		   struct buf *out)
{
	auto_free uint64_t *totals = calltree_totals(tree);
	auto_free struct place *places = calloc(tree->nodes.n + 1, sizeof(*places));
	struct picture picture = { tree, totals, unit, 0, places, 0 };
	const struct calltree_node *node;
	double height;

	if (!totals || !places) {
		out->oom = true;
		return;
	}
	vec_for_each (&tree->nodes, node)
		picture.all += node->self;
	if (picture.all)
		lay_out(&picture);
	height = HEAD + (picture.deepest + 1.0) * ROW + 4;
	buf_addf(out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		 "viewBox=\"0 0 %.0f %.0f\" font-family=\"monospace\" font-size=\"11\">\n"
		 "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		 "<text x=\"4\" y=\"18\" font-size=\"14\">",
		 WIDTH, height, WIDTH, height);
	html_add_text(out, title);
	buf_addstr(out, "</text>\n");
	for (size_t i = 0; i < tree->nodes.n; i++)
		if (places[i].width > 0)
			add_frame(&picture, i, out);
	buf_addstr(out, "</svg>\n");
}
