// SPDX-License-Identifier: GPL-3.0-or-later
// cold_added.c - a function gets a .cold part
// ways: gcc -O2, gcc -O2 -fno-pie
// redirects: f
// carries: f t.c:f.cold

int outside(const char *);

__attribute__((noinline, cold)) static int rare(int x)
{
	return outside("rare") + x;
}

int f(int x, int y)
{
#ifdef PATCHED
	if (x < 0)
		return rare(x) + y * 3;
#endif
	return outside("x") + x * y;
}

int g(int x)
{
	return rare(x);
}
