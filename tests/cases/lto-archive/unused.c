// SPDX-License-Identifier: GPL-3.0-or-later
// unused.c - a member that the program doesn't need

int unused(int n)
{
	return n;
}
