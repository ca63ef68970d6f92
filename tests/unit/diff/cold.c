// SPDX-License-Identifier: GPL-3.0-or-later
// cold.c - a .cold part changes: it comes with its function
// ways: gcc -O2, gcc -O2 -fno-pie
// redirects: f
// carries: f t.c:f.cold
// refers: t.c:rare

int outside(const char *);

__attribute__((noinline, cold)) static int rare(int x)
{
	return outside("rare") + x;
}

int f(int x, int y)
{
	if (x < 0)
#ifndef PATCHED
		return rare(x) + y;
#else
		return rare(x) + y * 3;
#endif
	return outside("x") + x;
}
