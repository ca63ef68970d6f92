// SPDX-License-Identifier: GPL-3.0-or-later
// type_renamed_member.c - a member gets another name and nothing else
// ways: any
// redirects: f
// warns: 'struct pair' changes: 'b' is called 'second' now; what exists already keeps its contents

#ifdef PATCHED
#define b second
#endif

struct pair {
	int a, b;
};

int f(struct pair *p)
{
#ifdef PATCHED
	p->a = 7;
#endif
	return p->b;
}
