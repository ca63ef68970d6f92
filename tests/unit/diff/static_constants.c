// SPDX-License-Identifier: GPL-3.0-or-later
// static_constants.c - constant tables of one name and contents: any of them will do
// ways: gcc -O2, gcc -O3 -fno-pie
// redirects: top
// refers: by_name t.c:digits.0 t.c:digits.1

const char *by_name(const char *table, int x);

static int first(int x)
{
	static const char digits[] = "0123456789";

	return *by_name(digits, x);
}

#ifdef PATCHED
static int third(int x)
{
	static const char digits[] = "0123456789";

	return *by_name(digits, x + 1);
}

static int second(int x)
{
	return third(x) + third(x - 1);
}
#else
static int second(int x)
{
	static const char digits[] = "0123456789";

	return *by_name(digits, x);
}
#endif

int top(int x)
{
	return first(x) + second(x + 3);
}
