// SPDX-License-Identifier: GPL-3.0-or-later
// new_function.c - a new static function with a new variable and a new string
// ways: any
// redirects: f
// carries: t.c:helper t.c:calls

int outside(const char *);

#ifdef PATCHED
static int calls = 7;

__attribute__((noinline)) static int helper(int x)
{
	return outside("new") + calls++ + x;
}
#endif

int f(int x)
{
#ifndef PATCHED
	return x;
#else
	return helper(x);
#endif
}
