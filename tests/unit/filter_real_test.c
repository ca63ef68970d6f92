// SPDX-License-Identifier: GPL-3.0-or-later
// filter_real_test.c - filters on floating-point numbers: the code that is made of them says what C
// says
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/arch.h"
#include "tap.h"
#include "trace/probe/filter.h"
#include "uspl/probe.h"

#define ROOM 65536

static const double numbers[] = {
	-INFINITY, -DBL_MAX, -1e39,    -FLT_MAX, -1.5,    -1.0,     -0.1, -1e-40,
	-1e-310,   -0.0,     0.0,      1e-310,   1e-40,   FLT_MIN,  0.1,  0.25,
	1.0,       1.5,      16777217, 1e39,     DBL_MAX, INFINITY,
};

enum relation { EQUAL, UNEQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, N_RELATIONS };

static const char *const signs[] = { "==", "!=", "<", "<=", ">", ">=" };

static uint8_t *room;
static unsigned hits;
static struct uspl_hit seen;

/* It is what the filter lets pass; nothing is recorded. */
int uspl_probe(struct uspl_hit *hit)
{
	hits++;
	seen = *hit;
	return 0;
}

static bool holds(double x, enum relation relation, double number)
{
	switch (relation) {
	case EQUAL:
		return x == number;
	case UNEQUAL:
		return x != number;
	case LESS:
		return x < number;
	case LESS_EQUAL:
		return x <= number;
	case GREATER:
		return x > number;
	default:
		return x >= number;
	}
}

static struct marker marker = { .name = (char *)"test:real",
				.format = (char *)"x=%g y=%g",
				.n_args = 2 };

/* Makes the code of a probe with a filter in front of a function that returns at once. */
static bool make(const char *text)
{
	static const uint8_t nop_ret[] = { 0x0f, 0x1f, 0x44, 0, 0, 0xc3 };
	taddr at = (taddr)(uintptr_t)room;
	struct probe_arg args[] = { { .place = marker.args[0].place, .width = 8, .slot = 1 },
				    { .place = marker.args[1].place, .width = 4 } };
	auto_buf struct buf buf = { 0 };
	struct probe_parts parts;
	struct filter filter = { 0 };
	bool made = !filter_parse(text, &marker, &filter, NULL);
	struct probe_code code = { .at = at + 64,
				   .runtime = (taddr)(uintptr_t)arch_native()->trace_runtime(
					   &(size_t){ 0 }),
				   .id = 1,
				   .slots = 2,
				   .args = args,
				   .tests = filter.tests.items,
				   .n_args = 2,
				   .n_tests = filter.tests.n,
				   .program = (taddr)(uintptr_t)uspl_probe,
				   .name = marker.name,
				   .types = "df",
				   .keep_flags = true,
				   .site = at,
				   .old = nop_ret,
				   .old_len = 5,
				   .skip = 5 };

	memcpy(room, nop_ret, sizeof(nop_ret));
	made = made && !probe_encode(&code, &buf, &parts, NULL) && buf.len < ROOM - 64;
	if (made) {
		memcpy(room + 64, buf.data, buf.len);
		made = arch_native()->jump_encode(parts.chain_slot, parts.end,
						  room + (parts.chain_slot - at)) &&
		       arch_native()->jump_encode(at, code.at, room);
	}
	filter_release(&filter);
	return made;
}

static bool passes(double x, float y)
{
	unsigned before = hits;

	((void (*)(double, float))(uintptr_t)room)(x, y);
	return hits > before;
}

/* How many of all numbers, and what is none, it is wrong about. */
static unsigned wrong(const char *arg, enum relation relation, double number, const char *suffix)
{
	double compared = *suffix ? (double)(float)number : number;
	bool is_float = arg[0] == 'y';
	unsigned n = 0;
	char text[64];

	snprintf(text, sizeof(text), "%s %s %.17g%s", arg, signs[relation], number, suffix);
	if (!make(text)) {
		printf("# '%s' isn't understood\n", text);
		return 1;
	}
	for (size_t i = 0; i <= sizeof(numbers) / sizeof(*numbers); i++) {
		double x = i < sizeof(numbers) / sizeof(*numbers) ? numbers[i] : NAN;
		bool should = holds(is_float ? (double)(float)x : x, relation, compared);

		if (passes(is_float ? 0 : x, is_float ? (float)x : 0) == should)
			continue;
		n++;
		printf("# '%s' of %g\n", text, x);
	}
	return n;
}

static void test_all(const char *arg, const char *suffix, const char *what)
{
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		for (int relation = 0; relation < N_RELATIONS; relation++)
			n += wrong(arg, (enum relation)relation, numbers[i], suffix);
	ok(!n, "%s", what);
}

static void test_together(void)
{
	ok(make("x > 0.5 && x < 1.5 && !(y == 2) || x == -7") && passes(1, 1) && !passes(1, 2) &&
		   !passes(0.5, 1) && passes(-7, 2) && !passes(NAN, 1),
	   "several of them");
	ok(make("y") && passes(0, 1) && !passes(1, 0) && !passes(1, -0.0f) && passes(0, NAN),
	   "by itself a number is true if it isn't 0");
}

static void test_hit(void)
{
	ok(make("x > 0") && passes(2.5, 0.1f) && seen.n_args == 2 &&
		   !memcmp(&seen.args[0], &(double){ 2.5 }, 8) &&
		   !memcmp(&seen.args[1], &(float){ 0.1f }, 4) && !(seen.args[1] >> 32) &&
		   !strcmp(seen.types, "df") && !strcmp(seen.marker, "test:real"),
	   "a program gets their bits, and their types");
}

static void test_refused(void)
{
	static const char *const bad[] = { "x > ",      "x > nan",  "x & 1",  "x > 1.5x",
					   "x > \"1\"", "x > 1..5", "x > 1ff" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!make(bad[i]), "'%s' is refused", bad[i]);
}

int main(void)
{
	const char *x = "%xmm0", *y = "4f@%xmm1";

	room = mmap((void *)(((uintptr_t)main & ~(uintptr_t)0xfffff) - (64 << 20)), ROOM,
		    PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	marker.args[0].kind = marker.args[1].kind = USPL_PROBE_FLOAT;
	ok(room != MAP_FAILED && !place_parse(&x, &marker.args[0].place, NULL) &&
		   !place_parse(&y, &marker.args[1].place, NULL),
	   "places");
	marker.args[0].place.is_float = true;
	test_all("x", "", "doubles are compared as C compares them");
	test_all("y", "", "floats with doubles, too");
	test_all("y", "f", "and floats with floats");
	test_together();
	test_hit();
	test_refused();
	return tap_done();
}
