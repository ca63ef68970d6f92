// SPDX-License-Identifier: GPL-3.0-or-later
// static_to_global.c - a static function becomes global: it keeps its old refname
// ways: any
// carries: t.c:low

#ifndef PATCHED
__attribute__((noinline)) static int low(int x)
{
	return x / 3;
}
#else
__attribute__((noinline)) int low(int x)
{
	return x / 5;
}
#endif

int f(int x)
{
	return low(x);
}
