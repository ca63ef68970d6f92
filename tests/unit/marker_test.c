// SPDX-License-Identifier: GPL-3.0-or-later
// marker_test.c - places of arguments, filters and messages: what is understood, and that nothing
// hostile is

#include "tap.h"
#include "trace/probe/filter.h"
#include "trace/probe/message.h"

static bool place(const char *text, struct place *ret)
{
	memset(ret, 0, sizeof(*ret));
	return !place_parse(&text, ret, NULL) && !*text;
}

static void test_places(void)
{
	static const char *const bad[] = {
		"",
		"%",
		"%foo",
		"8@",
		"3@%rax",
		"-16@%rax",
		"%rax)",
		"(%rax",
		"4(%rax,%rcx,3)",
		"(%rax,%rcx,",
		"%xmm99",
		"x",
		"x(%rax)",
		"5(%rip)",
		"%r16",
		"%r8x",
		"8@%rax,%rbx",
		"$",
		"%fs:8",
		"%raxraxraxraxraxraxrax",
		"99999999999(%rax)",
		"()",
		"-",
	};
	struct place p;

	ok(place("%rax", &p) && p.kind == PLACE_REGISTER && p.reg == 0 && p.size == 8, "%%rax");
	ok(place("-4@%r10d", &p) && p.reg == 10 && p.size == 4 && p.is_signed, "-4@%%r10d");
	ok(place("1@%ah", &p) && p.reg == 0 && p.shift == 8 && p.size == 1, "1@%%ah");
	ok(place("2@%si", &p) && p.reg == 6 && p.size == 2 && !p.is_signed, "2@%%si");
	ok(place("8f@%xmm9", &p) && p.kind == PLACE_VECTOR && p.reg == 9 && p.is_float,
	   "8f@%%xmm9");
	ok(place("-4@$-5", &p) && p.kind == PLACE_NUMBER && p.number == -5, "-4@$-5");
	ok(place("4@17 ", &p) && p.kind == PLACE_NUMBER && p.number == 17, "4@17");
	ok(place("-80(%rbx)", &p) && p.kind == PLACE_MEMORY && p.has_base && p.reg == 3 &&
		   p.number == -80 && !p.scale,
	   "-80(%%rbx)");
	ok(place("4@8(%rsp,%r9,4)", &p) && p.reg == 4 && p.index == 9 && p.scale == 4 &&
		   p.number == 8,
	   "8(%%rsp,%%r9,4)");
	ok(place("(,%rcx,8)", &p) && !p.has_base && p.index == 1 && p.scale == 8, "(,%%rcx,8)");
	ok(place("8@count+16(%rip)", &p) && p.symbol && !strcmp(p.symbol, "count") &&
		   p.number == 16,
	   "count+16(%%rip)");
	free(p.symbol);
	ok(place("-4@40+count(%rip)", &p) && p.symbol && !strcmp(p.symbol, "count") &&
		   p.number == 40,
	   "40+count(%%rip)");
	free(p.symbol);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(!place(bad[i], &p), "refused: '%s'", bad[i]);
}

static struct marker sample(void)
{
	static char name[] = "a:b", format[] = "x=%d n %u name=%s f=%g";
	struct marker marker = { .name = name, .format = format, .n_args = 4 };

	marker.args[0].kind = USPL_PROBE_SIGNED;
	marker.args[0].place.is_signed = true;
	marker.args[1].kind = USPL_PROBE_UNSIGNED;
	marker.args[2].kind = USPL_PROBE_TEXT;
	marker.args[3].kind = USPL_PROBE_FLOAT;
	return marker;
}

static bool holds(const struct probe_test *test, const uint64_t *args, const char *text)
{
	uint64_t arg = args[test->arg];

	if (test->text)
		return !strcmp(text, test->text) == (test->relation == PROBE_EQUAL);
	switch (test->relation) {
	case PROBE_EQUAL:
		return arg == test->value;
	case PROBE_UNEQUAL:
		return arg != test->value;
	case PROBE_BITS:
		return arg & test->value;
	case PROBE_LESS:
		return test->arg ? arg < test->value : (int64_t)arg < (int64_t)test->value;
	case PROBE_LESS_EQUAL:
		return test->arg ? arg <= test->value : (int64_t)arg <= (int64_t)test->value;
	case PROBE_GREATER:
		return test->arg ? arg > test->value : (int64_t)arg > (int64_t)test->value;
	case PROBE_GREATER_EQUAL:
		return test->arg ? arg >= test->value : (int64_t)arg >= (int64_t)test->value;
	}
	return false;
}

/* What the target would do: 1 record, 0 skip, -1 not understood, -2 a test that leads back. */
static int passes(const char *text, long x, unsigned long n, const char *name)
{
	struct marker marker = sample();
	const uint64_t args[] = { (uint64_t)x, n, 0, 0 };
	struct filter filter = { 0 };
	int at = 0, next;

	if (filter_parse(text, &marker, &filter, NULL))
		return -1;
	do {
		const struct probe_test *test = &filter.tests.items[at];

		next = holds(test, args, name) ? test->if_true : test->if_false;
		if (next >= 0 && (next <= at || (size_t)next >= filter.tests.n))
			next = -3;
		at = next;
	} while (at >= 0);
	filter_release(&filter);
	return at == PROBE_PASS ? 1 : at == PROBE_SKIP ? 0 : -2;
}

static void test_filters(void)
{
	static const char *const bad[] = {
		"",
		"x >",
		"x > y",
		"nosuch",
		"x == \"a\"",
		"name > \"a\"",
		"name==1",
		"f & 1",
		"(x > 1",
		"x > 1)",
		"x > 1 &&",
		"x = 1",
		"x > 1.5",
		"name == \"",
		"x > 1 || ",
		"arg5 == 1",
		"arg0",
		"1 < x",
		"x > 99999999999999999999",
	};

	ok(passes("x > 5", 6, 0, "") == 1 && passes("x > 5", 5, 0, "") == 0, "more");
	ok(passes("x < 0", -1, 0, "") == 1 && passes("x<-1", -1, 0, "") == 0, "signed");
	ok(passes("n >= 0x10", 0, 16, "") == 1 && passes("n <= 0x10", 0, 17, "") == 0, "at least");
	ok(passes("arg2 & 4", 0, 12, "") == 1 && passes("n & 4", 0, 8, "") == 0, "bits");
	ok(passes("x", 1, 0, "") == 1 && passes("!x", 1, 0, "") == 0, "an argument alone");
	ok(passes("name == \"a b\"", 0, 0, "a b") == 1 && passes("name != \"a\"", 0, 0, "a") == 0,
	   "strings");
	ok(passes("x > 5 && n == 1", 6, 1, "") == 1 && passes("x > 5 && n == 1", 6, 2, "") == 0 &&
		   passes("x > 5 && n == 1", 5, 1, "") == 0,
	   "and");
	ok(passes("x > 5 || n == 1", 0, 1, "") == 1 && passes("x > 5 || n == 1", 0, 2, "") == 0,
	   "or");
	ok(passes("x == 1 || x == 2 && n == 3", 1, 0, "") == 1 &&
		   passes("(x == 1 || x == 2) && n == 3", 1, 0, "") == 0,
	   "and binds closer than or");
	ok(passes("!(x == 1 && n == 1)", 1, 1, "") == 0 &&
		   passes("!(x == 1 && n == 1)", 1, 2, "") == 1 &&
		   passes("!(x == 1 && n == 1)", 2, 1, "") == 1,
	   "not and");
	ok(passes("!(x == 1 || n == 1) || name == \"y\"", 1, 2, "y") == 1 &&
		   passes("!(x == 1 || n == 1) || name == \"y\"", 2, 2, "n") == 1 &&
		   passes("!(x == 1 || n == 1) || name == \"y\"", 2, 1, "n") == 0,
	   "not or");
	ok(passes("!!(x && !(n && x > 3))", 4, 0, "") == 1 &&
		   passes("!!(x && !(n && x > 3))", 4, 1, "") == 0,
	   "nested");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(passes(bad[i], 0, 0, "") == -1, "refused: '%s'", bad[i]);
}

static bool prints(const char *want, const char *format, const struct message_value *values,
		   size_t n)
{
	auto_buf struct buf out = { 0 };

	message_add(&out, format, values, n);
	if (strcmp(buf_str(&out), want) != 0)
		printf("# have '%s', want '%s'\n", buf_str(&out), want);
	return !strcmp(buf_str(&out), want);
}

static void test_messages(void)
{
	char text[] = "a\x1b";
	struct message_value v[] = {
		{ .kind = USPL_PROBE_SIGNED, .word = (uint64_t)-5 },
		{ .kind = USPL_PROBE_FLOAT, .real = 2.5 },
		{ .kind = USPL_PROBE_TEXT, .text = text },
		{ .kind = USPL_PROBE_POINTER, .word = 0x1234 },
	};

	ok(prints("-5 2.50 a\\x1b 0x1234", "%d %.2f %s %p", v, 4), "each sort");
	ok(prints("4294967291 -5 251 18446744073709551611", "%u %ld %hhu %lu",
		  (struct message_value[]){ v[0], v[0], v[0], v[0] }, 4),
	   "sizes");
	ok(prints("100% |   -5|-5   |", "100%% |%5d|%-5d|", (struct message_value[]){ v[0], v[0] },
		  2),
	   "widths");
	ok(prints("arg1=-5 arg2=2.5 arg3=\"a\\x1b\" arg4=4660", NULL, v, 4), "no format");
	ok(prints("0 0 0x0", "%d %u %s", NULL, 0), "values that aren't there");
	ok(prints("-5", "%d%n", v, 2), "nothing is written to");
	ok(prints("%y -5", "%y %d", v, 1), "what isn't known stays");
	ok(prints("%", "%", v, 1), "an end within");
	ok(prints("line\\nend", "line\nend\n", v, 0), "a line stays one");
	ok(message_wants_text("%d %s", 1) && !message_wants_text("%d %s", 0) &&
		   message_wants_text("%*d%%%s", 2),
	   "which one is a string");
	ok(message_arg_named("fd=%d peer: %s, n %u", "fd", 2) == 0 &&
		   message_arg_named("fd=%d peer: %s, n %u", "peer", 4) == 1 &&
		   message_arg_named("fd=%d peer: %s, n %u", "n", 1) == 2 &&
		   message_arg_named("fd=%d peer: %s, n %u", "d", 1) == -1,
	   "names");
}

/*
 * The format is the process's, and so are the numbers: together they don't make a line of
 * gigabytes.
 */
static void test_wide(void)
{
	const struct message_value values[] = {
		{ .kind = USPL_PROBE_SIGNED, .word = 999 },
		{ .kind = USPL_PROBE_SIGNED, .word = 999 },
		{ .kind = USPL_PROBE_SIGNED, .word = 999 },
		{ .kind = USPL_PROBE_SIGNED, .word = 5 },
	};
	static const char *const formats[] = { "%***d",  "%9999999999d", "%*9999999d",
					       "%999*d", "%.***d",       "%.999999999d" };

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		auto_buf struct buf out = { 0 };

		message_add(&out, formats[i], values, ARRAY_SIZE(values));
		ok(out.len < 3000 && !out.oom, "'%s' is %zu bytes", formats[i], out.len);
	}
}

int main(void)
{
	test_places();
	test_filters();
	test_messages();
	test_wide();
	return tap_done();
}
