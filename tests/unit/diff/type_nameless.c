// SPDX-License-Identifier: GPL-3.0-or-later
// type_nameless.c - the structure of one variable, which has no name, changes its order
// ways: any
// refuses: data-change variable 'now': 'errors' moves from offset 4 to 0

struct {
#ifdef PATCHED
	int errors, count;
#else
	int count, errors;
#endif
} now;

void count(void)
{
	now.count++;
}
