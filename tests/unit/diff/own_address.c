// SPDX-License-Identifier: GPL-3.0-or-later
// own_address.c - a static function takes its own address: also then it is the original's
// ways: any
// redirects: again
// carries: t.c:again
// by_name: t.c:again

int later(int (*callback)(int), int x);

static int again(int x)
{
#ifndef PATCHED
	return x ? later(again, x - 1) : 0;
#else
	return x ? later(again, x - 2) : 0;
#endif
}

int f(int x)
{
	return later(again, x);
}
