// SPDX-License-Identifier: GPL-3.0-or-later
// switch.c - a jump table's entries lead into the new code
// ways: any
// redirects: f
// carries: f

int outside(const char *);

int f(int x)
{
	switch (x) {
	case 0:
		return outside("a");
	case 1:
#ifndef PATCHED
		return outside("bb") * 3;
#else
		return outside("bb") * 3 + outside("e");
#endif
	case 2:
		return x * 77;
	case 3:
		return outside("c") / 5;
	case 4:
		return 9;
	case 5:
		return outside("d");
	}
	return 0;
}

int g(int x)
{
	switch (x) {
	case 0:
		return outside("ga");
	case 1:
		return x + outside("gb");
	case 2:
		return x * 7;
	case 3:
		return outside("gc") / 5;
	case 4:
		return 19;
	}
	return 0;
}
