// SPDX-License-Identifier: GPL-3.0-or-later
// other.c - another user of the variable

extern int hits;

int hits = 70;

int other(void);

int other(void)
{
	return hits;
}
