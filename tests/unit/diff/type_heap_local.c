// SPDX-License-Identifier: GPL-3.0-or-later
// type_heap_local.c - a structure that grows at its end, with objects on the heap that live within one call: who knows where their address went
// ways: gcc -O0, gcc -O2, clang -O2 -fPIC
// refuses: data-change 'struct state' changes: new member 'errors' at offset 8, the size changes from 8 to 16 bytes

#include <stdlib.h>

struct state {
	int at;
	int depth;
#ifdef PATCHED
	long errors;
#endif
};

static void *kept;

int parse(const char *text)
{
	struct state *s = calloc(1, sizeof(*s));
	int depth;

	if (!s)
		return -1;
	while (*text)
		s->at += *text++;
#ifdef PATCHED
	s->errors = s->at;
#endif
	depth = s->depth + s->at;
	if (text[-1] == 'k')
		kept = s;
	else
		free(s);
	return depth;
}

int last(void)
{
	return kept ? ((struct state *)kept)->at : 0;
}
