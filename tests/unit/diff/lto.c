// SPDX-License-Identifier: GPL-3.0-or-later
// lto.c - objects that hold no code yet
// ways: gcc -O2 -flto
// refuses: unsupported link-time

int f(int x)
{
#ifndef PATCHED
	return x;
#else
	return x + 1;
#endif
}
