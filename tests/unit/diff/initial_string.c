// SPDX-License-Identifier: GPL-3.0-or-later
// initial_string.c - a pointer's initial value is another string
// ways: any
// refuses: data-change post.c:9: the initial value of 'name' changes from "one" to "two"

#ifndef PATCHED
const char *name = "one";
#else
const char *name = "two";
#endif

int f(void)
{
	return *name;
}
