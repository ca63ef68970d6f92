// SPDX-License-Identifier: GPL-3.0-or-later
// type_same.c - typedefs, qualifiers, tags and the order of declarations change nothing in memory
// ways: any
// redirects: f
// warns: none

#ifdef PATCHED
typedef unsigned int count_t;
struct inner {
	const char *text;
};
struct outer {
	count_t n;
	struct renamed {
		struct renamed *next;
		int x;
	} * list;
	struct inner in;
};
#else
struct inner {
	char *text;
};
struct outer {
	unsigned int n;
	struct named {
		struct named *next;
		int x;
	} * list;
	struct inner in;
};
#endif

int f(struct outer *o)
{
#ifdef PATCHED
	if (!o->list)
		return -1;
#endif
	return (int)o->n + o->list->x;
}
