// SPDX-License-Identifier: GPL-3.0-or-later
// plus.c - a library

int plus(int n);

int plus(int n)
{
	return n + 1;
}
