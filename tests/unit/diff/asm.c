// SPDX-License-Identifier: GPL-3.0-or-later
// asm.c - code that is in no function
// ways: any
// refuses: unsupported belongs to no function

static int counter = 5;

int bump(void)
{
	return counter++;
}

#ifndef PATCHED
asm(".text\nthing: nop\n");
#else
asm(".text\nthing: ret\n");
#endif
