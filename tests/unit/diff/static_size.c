// SPDX-License-Identifier: GPL-3.0-or-later
// static_size.c - a static local of another size
// ways: any
// refuses: data-change from 16 to 32 bytes

int f(int i)
{
#ifndef PATCHED
	static int n[4] = { 1 };
#else
	static int n[8] = { 1 };
#endif

	return n[i]++;
}
