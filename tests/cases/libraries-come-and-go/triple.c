// SPDX-License-Identifier: GPL-3.0-or-later
// triple.c - a library of one function

int triple(int x);

int triple(int x)
{
	return 3 * x;
}
