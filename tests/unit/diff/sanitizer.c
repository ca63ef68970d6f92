// SPDX-License-Identifier: GPL-3.0-or-later
// sanitizer.c - one string more in front, and a new variable: the sanitizer's table of them isn't in the update
// ways: gcc -O1 -fsanitize=address, gcc -x c++ -O1 -fsanitize=address, clang -O1 -fsanitize=address, clang -O1 -fsanitize=address -fsanitize-address-globals-dead-stripping
// redirects: e
// warns: none

#include <stdio.h>

#ifdef __cplusplus
extern "C"
#endif
	int
	e(int i);
int f(int i);
int g(void);
void set(const char *to);

static const char *table[] = { "aa", "bb" };
static int count;

#ifdef PATCHED
static int fresh;

int e(int i)
{
	return puts(i ? "front" : i > fresh++ ? "new" : "zero");
}
#else
int e(int i)
{
	return puts(i ? "zero" : "one");
}
#endif

int f(int i)
{
	count++;
	return puts(table[i]);
}

int g(void)
{
	return puts("hello") + count;
}

void set(const char *to)
{
	table[0] = to;
}
