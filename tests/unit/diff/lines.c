// SPDX-License-Identifier: GPL-3.0-or-later
// lines.c - nothing changes but lines and comments
// ways: any
// refuses: no-change the patch changes no code

#ifdef PATCHED
/* new */

#endif
static int counter = 5;

int bump(void)
{
	return counter++;
}
