// SPDX-License-Identifier: GPL-3.0-or-later
// linker_table.c - an entry of a table that the linker makes is added
// ways: any
// refuses: unsupported table 'hooks'

static int counter = 5;

int bump(void)
{
	return counter++;
}

#ifdef PATCHED
__attribute__((section("hooks"), used)) static int *hook = &counter;
#endif
