// SPDX-License-Identifier: GPL-3.0-or-later
// initial_string.c - a pointer's initial value is another string
// ways: any
// refuses: data-change 'name'

#ifndef PATCHED
const char *name = "one";
#else
const char *name = "two";
#endif

int f(void)
{
	return *name;
}
