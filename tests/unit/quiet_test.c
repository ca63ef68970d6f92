// SPDX-License-Identifier: GPL-3.0-or-later
// quiet_test.c - which units differ in debugging information only

#include "create/diff/quiet_units.h"
#include "create/unit/diff_unit.h"
#include "tests/unit/compile.h"
#include "tests/unit/tap.h"

static const char plain[] =
	"enum e { A, B }; struct s { int a; };\n"
	"static int n; const char *name(struct s *s) { return s->a ? \"one\" : 0; }\n"
	"int f(enum e e) { static int m; return e == B ? n++ : m--; }\n";

static enum unit_sort sort_of(const char *command, const char *before, const char *after)
{
	auto_free char *pre = compile_object(command, "pre", before);
	auto_free char *post = compile_object(command, "post", after);
	struct diff_unit unit = { "unit.c", pre, post };
	struct uspl_err err = { 0 };
	enum unit_sort sort = UNIT_SAME;

	ok(quiet_sort(&unit, &sort, &err) == 0, "both can be read");
	return sort;
}

/* The text with the first `from` made `to`. */
static char *changed(const char *from, const char *to)
{
	const char *at = strstr(plain, from);
	char *text = NULL;

	if (!at || asprintf(&text, "%.*s%s%s", (int)(at - plain), plain, to, at + strlen(from)) < 0)
		exit(1);
	return text;
}

/* The source's name is in the objects: it is the same in both. */
#define GCC                                                                                        \
	"f() { sed '1i # 1 \"unit.c\"' \"$2\" > unit.i && "                                        \
	"gcc -g -O2 -ffunction-sections -fdata-sections -c unit.i -o \"$4\"; }; f"
#define GXX                                                                                        \
	"f() { sed '1i # 1 \"unit.c\"' \"$2\" > unit.ii && "                                       \
	"g++ -g -O2 -ffunction-sections -c unit.ii -o \"$4\"; }; f"

static void check(const char *from, const char *to, enum unit_sort wanted, const char *what)
{
	auto_free char *text = changed(from, to);

	ok(sort_of(GCC, plain, text) == wanted, "%s", what);
}

static void test_debug_only(void)
{
	check("B }", "B }", UNIT_SAME, "the same source: the same");
	check("B }", "B, C }", UNIT_QUIET, "an enumerator more: quiet");
	check("int a; }", "int a; long b; }", UNIT_QUIET, "a member behind the others: quiet");
}

static void test_program(void)
{
	check("n++", "n--", UNIT_DIFFERENT, "other code");
	check("int n;", "int n = 1;", UNIT_DIFFERENT, "another initial value");
	check("\"one\"", "\"two\"", UNIT_DIFFERENT, "another string");
	check("static int n; const",
	      "static int n; static int k; int *kp(void) { return &k; } const", UNIT_DIFFERENT,
	      "more functions");
	check("static int n", "int n", UNIT_DIFFERENT, "another binding");
	check("const char *name", "char *unused; const char *name", UNIT_DIFFERENT,
	      "one variable more");
	check("struct s *s)", "struct s *s, int x)", UNIT_QUIET, "a parameter that is not used");
}

static void test_nameless(void)
{
	static const char text[] = "enum e { A%s }; int call(int (*f)(int));\n"
				   "int g(int x) { auto f = [](int y) { return y + 1; };\n"
				   "return call(f) + x; }\n";
	auto_free char *before = NULL;
	auto_free char *after = NULL;

	if (asprintf(&before, text, "") < 0 || asprintf(&after, text, ", B") < 0)
		exit(1);
	ok(sort_of(GXX, before, after) == UNIT_DIFFERENT, "a unit with a lambda is never quiet");
}

int main(void)
{
	test_debug_only();
	test_program();
	test_nameless();
	compile_rmdir();
	return tap_done();
}
