// SPDX-License-Identifier: GPL-3.0-or-later
// lines_test.c - unchanged lines keep their numbers: pairing, safe places, and what compilers see

#include "base/cleanup.h"
#include "create/tree/lines.h"
#include "tap.h"

static char *renumber(const char *pre, const char *post)
{
	auto_buf struct buf a = { 0 }, b = { 0 }, out = { 0 };
	auto_lines_kept struct lines_kept kept = { 0 };
	struct uspl_err err = { 0 };

	buf_addstr(&a, pre);
	buf_addstr(&b, post);
	if (lines_renumber(&a, false, &b, &out, &kept, &err))
		return NULL;
	buf_add(&out, "", 0);
	return buf_take(&out);
}

/* clang-format off */
static const struct { const char *what, *pre, *post, *want; } texts[] = {
	{ "nothing changed", "a\nb\n", "a\nb\n", "a\nb\n" },
	{ "a replaced line moves nothing", "a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n" },
	{ "an added line", "a\nb\n", "a\nn\nb\n", "a\n#line 1000002\nn\n#line 2\nb\n" },
	{ "a removed line", "a\nb\nc\n", "a\nc\n", "a\n#line 3\nc\n" },
	{ "two places", "a\nb\nc\nd\n", "n\na\nb\nm\nc\nd\n", "#line 1000001\nn\n#line 1\na\nb\n#line 1000004\nm\n#line 3\nc\nd\n" },
	{ "added at the end", "a\n", "a\nn\n", "a\n#line 1000002\nn\n" },
	{ "no line end", "a\nb", "n\na\nb", "#line 1000001\nn\n#line 1\na\nb" },
	{ "one more line and one less", "a\nb\nc\nd\n", "a\nn\nb\nd\n", "a\n#line 1000002\nn\n#line 2\nb\n#line 4\nd\n" },
	{ "a blank line is not worth it", "a\n\nb\n", "n\na\n\nb\n", "#line 1000001\nn\n#line 1\na\n\nb\n" },
	{ "a block like the next one", "f {\n\tb;\n}\ng\n", "f {\n\ta;\n}\nf {\n\tb;\n}\ng\n",
	  "#line 1000001\nf {\n\ta;\n}\n#line 1\nf {\n\tb;\n}\ng\n" },
	{ "a block like the next one is gone", "f {\n\ta;\n}\nf {\n\tb;\n}\ng\n", "f {\n\tb;\n}\ng\n",
	  "#line 4\nf {\n\tb;\n}\ng\n" },
	{ "between blank lines", "\nb\n", "n\n\nb\n", "#line 1000001\nn\n\n#line 2\nb\n" },
	{ "in a comment", "/*\nb\n*/\nc\n", "/*\nn\nb\n*/\nc\n", "/*\nn\nb\n*/\n#line 4\nc\n" },
	{ "in a macro", "#define A \\\n b \\\n c\nd\n", "#define A \\\n n \\\n b \\\n c\nd\n",
	  "#define A \\\n n \\\n b \\\n c\n#line 4\nd\n" },
	{ "in a call", "f(\nb,\nc);\nd\n", "f(\nn,\nb,\nc);\nd\n", "f(\nn,\nb,\nc);\n#line 4\nd\n" },
	{ "in a lambda in a call", "f([] {\nb;\nc(\nd);\n});\ne\n", "f([] {\nb;\nn;\nc(\nd);\n});\ne\n",
	  "f([] {\nb;\n#line 1000003\nn;\n#line 3\nc(\nd);\n});\ne\n" },
	{ "in a lambda in a macro's argument", "F([] {\nb;\n});\ne\n", "F([] {\nn;\nb;\n});\ne\n",
	  "F([] {\nn;\nb;\n});\n#line 4\ne\n" },
	{ "before the parenthesis of a call", "f\n(b);\nc\n", "n\nn\nf\n(b);\nc\n",
	  "#line 1000001\nn\nn\n#line 1\nf\n(b);\nc\n" },
	{ "a parenthesis in front", "(b);\nc\n", "n\n(b);\nc\n", "#line 1000001\nn\n(b);\n#line 2\nc\n" },
	{ "in a raw string", "s = R\"x(\nb\n)x\";\nc\n", "s = R\"x(\nn\nb\n)x\";\nc\n",
	  "s = R\"x(\nn\nb\n)x\";\n#line 4\nc\n" },
	{ "in a joined string", "s = \"a\\\n\";\nc\n", "s = \"n\\\na\\\n\";\nc\n",
	  "#line 1000001\ns = \"n\\\na\\\n\";\n#line 3\nc\n" },
	{ "parentheses in strings", "f(')', \")\", /*)*/\nb);\nc\n", "f(')', \")\", /*)*/\nn\nb);\nc\n",
	  "f(')', \")\", /*)*/\nn\nb);\n#line 3\nc\n" },
	{ "escapes", "f('\\'', \"\\\")\",\nb);\nc\n", "f('\\'', \"\\\")\",\nn\nb);\nc\n",
	  "f('\\'', \"\\\")\",\nn\nb);\n#line 3\nc\n" },
	{ "digits apart", "a = 1'000;\nb\n", "n\na = 1'000;\nb\n", "#line 1000001\nn\n#line 1\na = 1'000;\nb\n" },
	{ "a comment that is joined", "// a \\\nb\nc\n", "// a \\\nn \\\nb\nc\n",
	  "// a \\\nn \\\nb\n#line 3\nc\n" },
	{ "after a group", "#if X\nb\n#endif\nc\n", "#if X\nn\nb\n#endif\nc\n",
	  "#if X\n#line 1000002\nn\n#line 2\nb\n#endif\n#line 4\nc\n" },
	{ "in the other branch", "n\n#if X\na\n#else\nb\n#endif\n", "m\nn\n#if X\na\n#else\nb\n#endif\n",
	  "#line 1000001\nm\n#line 1\nn\n#if X\na\n#else\n#line 5\nb\n#endif\n" },
	{ "branches with one parenthesis each", "#if X\nif (a &&\n#else\nif (\n#endif\nb)\nc\n",
	  "n\n#if X\nif (a &&\n#else\nif (\n#endif\nb)\nc\n",
	  "#line 1000001\nn\n#line 1\n#if X\nif (a &&\n#else\n#line 4\nif (\n#endif\nb)\n#line 7\nc\n" },
	{ "a lost parenthesis ends with the function", "f(\n}\nb\n", "f(\nn\n}\nb\n",
	  "f(\nn\n}\n#line 3\nb\n" },
	{ "macros need not be balanced", "#define A (\nb\n", "n\n#define A (\nb\n",
	  "#line 1000001\nn\n#line 1\n#define A (\nb\n" },
	{ "numbers of its own", "a\n#line 7 \"x.y\"\nb\n", "n\na\n#line 7 \"x.y\"\nb\n",
	  "n\na\n#line 7 \"x.y\"\nb\n" },
	{ "markers of its own", "# 1 \"x.c\"\nb\n", "# 1 \"x.c\"\nn\nb\n", "# 1 \"x.c\"\nn\nb\n" },
	{ "open to the end", "/* \"\nb\n", "/* \"\nn\nb", "/* \"\nn\nb" },
	{ "indented anew", "a;\nb;\nc;\n", "{\n\ta;\n\tb;\n}\nc;\n",
	  "#line 1000001\n{\n#line 1\n\ta;\n\tb;\n#line 1000004\n}\n#line 3\nc;\n" },
	{ "a call on one line less", "f(a,\n  b);\ng();\n", "f(a, b);\ng();\n", "f(a, b);\n#line 3\ng();\n" },
	{ "a call on one line more", "f(a, b);\ng();\n", "f(a,\n  b);\ng();\n", "f(a,\n  b);\n#line 2\ng();\n" },
	{ "broken anew, and another argument", "f(a,\n  b);\ng();\n", "f(a, c, b);\ng();\n",
	  "#line 1000001\nf(a, c, b);\n#line 3\ng();\n" },
	{ "the line of a macro that is used", "a =\n  M(b);\nc;\n", "a = M(b);\nc;\n",
	  "#line 2\na = M(b);\nc;\n" },
	{ "two lines become one", "a;\nb;\nc;\n", "a; b;\nc;\n", "a; b;\n#line 3\nc;\n" },
	{ "a number is there once", "a; b;\nc;\n", "a;\nb;\nc;\n", "a;\n#line 1000002\nb;\n#line 2\nc;\n" },
	{ "a backslash at the end", "\"\\", "n\n\"\\", "#line 1000001\nn\n#line 1\n\"\\" },
};
/* clang-format on */

static void test_texts(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_free char *have = renumber(texts[i].pre, texts[i].post);

		ok_str(have, texts[i].want, texts[i].what);
	}
}

/* A text of numbered lines, some left out, some new. */
static void add_text(struct buf *text, unsigned seed, bool post)
{
	for (unsigned i = 0; i < 400; i++) {
		seed = seed * 1103515245 + 12345;
		if (!(seed >> 16 & 15) && post)
			buf_addf(text, "new %u\n", i);
		if (seed >> 20 & 15 || !post)
			buf_addf(text, "line %u\n", i % 50);
	}
}

/* Lines that are paired are equal, and in the same order; no more edits than were made. */
static void test_pairs(void)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		auto_buf struct buf a = { 0 }, b = { 0 };
		auto_lines line_list pre = { 0 }, post = { 0 };
		struct uspl_err err = { 0 };
		size_t last = 0, paired = 0, least = 0;
		bool fine = true;
		struct line *line;

		add_text(&a, seed, false);
		add_text(&b, seed, true);
		ok(!lines_split(a.data, a.len, &pre, &err) &&
			   !lines_split(b.data, b.len, &post, &err) &&
			   !lines_pair(&pre, &post, &err),
		   "paired");
		vec_for_each (&post, line) {
			const struct line *old = line->old ? &pre.items[line->old - 1] : NULL;

			least += line->text[0] == 'l';
			if (!old)
				continue;
			paired++;
			fine &= line->old > last && old->len == line->len &&
				!memcmp(old->text, line->text, line->len);
			last = line->old;
		}
		ok(fine && paired >= least, "seed %u: %zu of %zu lines", seed, paired, post.n);
	}
}

/* A line that one patch added keeps its number when the next one of a series adds others. */
static void test_series(void)
{
	auto_buf struct buf a = { 0 }, b = { 0 }, out = { 0 };
	auto_lines_kept struct lines_kept kept = { 0 };
	struct uspl_err err = { 0 };

	buf_addstr(&a, "a\n#line 1000002\nn\n#line 2\nb\n");
	buf_addstr(&b, "m\na\nn\nb\n");
	ok(!lines_renumber(&a, true, &b, &out, &kept, &err) && !kept.lost, "numbered again");
	ok_str(buf_str(&out), "#line 2000001\nm\n#line 1\na\n#line 1000002\nn\n#line 2\nb\n",
	       "the numbers of an earlier patch stay");
}

/* Where no directive may stand, or none is to, the first line with another number is told. */
static void test_lost(void)
{
	static const struct {
		const char *what, *pre, *post;
		size_t lost;
		bool foreign;
	} lost[] = {
		{ "none", "a\nb\n", "a\nn\nb\n", 0, false },
		{ "in a call", "f(\nb,\nc);\nd\n", "f(\nn,\nb,\nc);\nd\n", 3, false },
		{ "in a comment", "/*\nb\n*/\nc\n", "/*\nn\nb\n*/\nc\n", 0, false },
		{ "in a macro", "#define A \\\n b\nc\n", "#define A \\\n n \\\n b\nc\n", 0, false },
		{ "in a generated text", "#line 7 \"x\"\nb\n", "#line 7 \"x\"\nn\nb\n", 3, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lost); i++) {
		auto_buf struct buf a = { 0 }, b = { 0 }, out = { 0 };
		auto_lines_kept struct lines_kept kept = { 0 };
		struct uspl_err err = { 0 };

		buf_addstr(&a, lost[i].pre);
		buf_addstr(&b, lost[i].post);
		ok(!lines_renumber(&a, false, &b, &out, &kept, &err) && kept.lost == lost[i].lost &&
			   kept.foreign == lost[i].foreign,
		   "lost %s: line %zu", lost[i].what, kept.lost);
	}
}

/* Lines whose numbers are gone with them; those that others replace are not. */
static void test_gone(void)
{
	static const struct {
		const char *what, *pre, *post, *gone;
	} gone[] = {
		{ "none", "a\nb\n", "a\nn\nb\n", "" },
		{ "replaced", "a\nb\nc\n", "a\nB\nc\n", "" },
		{ "removed", "a\nb\nc\n", "a\nc\n", "b\n" },
		{ "moved", "a\nb\nc\nd\n", "a\nc\nb\nd\n", "b\n" },
		{ "a comment", "a\n// b\nc\n", "a\nc\n", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(gone); i++) {
		auto_buf struct buf a = { 0 }, b = { 0 }, out = { 0 };
		auto_lines_kept struct lines_kept kept = { 0 };
		struct uspl_err err = { 0 };

		buf_addstr(&a, gone[i].pre);
		buf_addstr(&b, gone[i].post);
		ok(!lines_renumber(&a, false, &b, &out, &kept, &err), "gone: %s", gone[i].what);
		ok_str(buf_str(&kept.gone), gone[i].gone, gone[i].what);
	}
}

static void test_rewritten(void)
{
	auto_buf struct buf a = { 0 }, b = { 0 };
	auto_free char *have = NULL;

	buf_addstr(&a, "first\n");
	buf_addstr(&b, "new\nfirst\n");
	for (int i = 0; i < 3000; i++) {
		buf_addf(&a, "old %d\n", i);
		buf_addf(&b, "new %d\n", i);
	}
	buf_addstr(&a, "last\n");
	buf_addstr(&b, "last\n");
	have = renumber(buf_str(&a), buf_str(&b));
	ok(have && strstr(have, "#line 3002\nlast\n") && !strstr(have, "#line 1\n"),
	   "a rewritten file keeps the numbers of its end");
}

int main(void)
{
	test_texts();
	test_pairs();
	test_series();
	test_lost();
	test_gone();
	test_rewritten();
	return tap_done();
}
