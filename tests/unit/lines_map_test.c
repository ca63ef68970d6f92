// SPDX-License-Identifier: GPL-3.0-or-later
// lines_map_test.c - from the numbers that the compiler counts back to the lines of the text

#include <string.h>

#include "base/cleanup.h"
#include "create/tree/lines_map.h"
#include "tap.h"

/* clang-format off */
static const struct { const char *what, *pre, *post; } texts[] = {
	{ "nothing changed", "a\nb\n", "a\nb\n" },
	{ "an added line", "a\nb\nc\n", "a\nn\nb\nc\n" },
	{ "several", "a\nb\nc\nd\n", "n\na\nb\nm\nm\nc\nd\n" },
	{ "a removed line", "a\nb\nc\nd\n", "a\nd\n" },
	{ "one more and one less", "a\nb\nc\nd\n", "a\nn\nb\nd\n" },
	{ "no line end", "a\nb", "n\na\nb" },
};
/* clang-format on */

/*
 * Counts the lines of what is compiled as a compiler does, and asks for each: true if the answer is
 * the line of the text that it is.
 */
static bool goes_back(const char *before, const char *after)
{
	auto_buf struct buf pre = { 0 }, post = { 0 }, compiled = { 0 };
	auto_lines_kept struct lines_kept kept = { 0 };
	auto_lines line_list lines = { 0 };
	lines_map map = { 0 };
	const struct numbered_source *source;
	size_t number = 1, line = 1;
	bool right = true;

	buf_addstr(&pre, before);
	buf_addstr(&post, after);
	if (lines_renumber(&pre, false, &post, &compiled, &kept, NULL) ||
	    lines_split(buf_str(&compiled), compiled.len, &lines, NULL) ||
	    lines_map_add(&map, "src/a.c", &compiled, true, NULL))
		return false;
	source = lines_map_find(&map, "src/a.c");
	right = source && source->text.len == post.len &&
		!memcmp(source->text.data, post.data, post.len) && !lines_map_find(&map, "a.c");
	for (size_t i = 0; right && i < lines.n; i++) {
		size_t set = lines_directive(&lines.items[i]);

		if (!set)
			right = lines_map_line(source, number) == line++;
		number = set ? set : number + 1;
	}
	/* A number that no line has means itself. */
	right = right && lines_map_line(source, 77) == 77;
	lines_map_release(&map);
	return right;
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		ok(goes_back(texts[i].pre, texts[i].post), "%s", texts[i].what);
	return tap_done();
}
