// SPDX-License-Identifier: GPL-3.0-or-later
// static_function.c - a static function changes; its caller doesn't
// ways: any
// redirects: low
// carries: t.c:low

__attribute__((noinline)) static int low(int x)
{
#ifndef PATCHED
	return x / 3;
#else
	return x / 5;
#endif
}

int f(int x)
{
	return low(x) + 1;
}
