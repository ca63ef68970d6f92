// SPDX-License-Identifier: GPL-3.0-or-later
// match.c - sample: every kind of reference that compiled C makes; match_test.c finds its functions
// in a linked program

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define NOINLINE __attribute__((noinline))

#ifndef STEP
#define STEP 3
#endif
#ifndef GREETING
#define GREETING "case two"
#endif
#ifndef WEIGHT
#define WEIGHT 1.5
#endif

int counter;
int numbers[16] = { 1, 2, 3 };
static int hidden_counter;
static __thread int per_thread = 5;
__thread long per_thread_global;
extern int other_value;
extern __thread int other_thread_value;
int other_function(int n);
const char *const words[] = { "one", "two", NULL };
static const double weights[] = { 0.5, WEIGHT, 2.5 };
static struct {
	char name[8];
	int (*function)(int);
} table[4];

static NOINLINE int twice(int n)
{
	hidden_counter++;
	return 2 * n;
}

static NOINLINE int thrice(int n)
{
	hidden_counter += STEP;
	return 3 * n;
}

NOINLINE int choose(int which, int n)
{
	switch (which) {
	case 0:
		return twice(n);
	case 1:
		return thrice(n) + 1;
	case 2:
		puts(GREETING);
		return n;
	case 3:
		counter += n;
		return other_function(n);
	case 4:
		return n * n;
	case 5:
		return numbers[n & 15];
	case 6:
		return n - hidden_counter;
	case 7:
		return (int)strlen(words[n & 1]);
	default:
		return -1;
	}
}

NOINLINE double weigh(int n)
{
	return weights[n % 3] * 3.25 + 0.125f;
}

NOINLINE int sum(const int *values, int n)
{
	int total = 0;

	for (int i = 0; i < n; i++) {
		if (values[i] < 0)
			continue;
		for (int j = 0; j < values[i]; j++)
			total += j ^ i;
	}
	return total;
}

NOINLINE void report(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}

NOINLINE int checked(int n)
{
	if (__builtin_expect(n < 0, 0)) {
		report("negative: %d\n", n);
		abort();
	}
	if (__builtin_expect(n > 1000, 0))
		report("large: %d\n", n);
	return twice(n) + thrice(n);
}

NOINLINE int tail(int n)
{
	return n > 5 ? twice(n + 1) : thrice(n);
}

NOINLINE int add_thread(int n)
{
	per_thread += n;
	per_thread_global -= n;
	other_thread_value = n;
	return per_thread;
}

NOINLINE void fill(void)
{
	for (int i = 0; i < 4; i++) {
		snprintf(table[i].name, sizeof(table[i].name), "t%d", i);
		table[i].function = i & 1 ? twice : other_function;
	}
	qsort(numbers + 4, 12, sizeof(int), NULL);
	other_value = table[2].function(counter);
}

NOINLINE size_t wide(const wchar_t *s)
{
	return wcscmp(s, L"wide") ? wcslen(s) : 4;
}

NOINLINE int recurse(int n)
{
	return n < 2 ? 1 : recurse(n - 1) + recurse(n - 2) + n;
}

static NOINLINE const char *where(void)
{
	return __func__;
}

int main(int argc, char **argv)
{
	report("%s %d\n", where(), choose(argc, 4) + sum(numbers, 16) + checked(argc) + tail(argc));
	fill();
	return add_thread((int)weigh(argc)) + recurse(argc) + (int)wide(L"x") + !argv;
}
