// SPDX-License-Identifier: GPL-3.0-or-later
// type_nested.c - a member moves within a nameless union and structure
// ways: any
// refuses: data-change 'conn_t' changes: new member 'u.in.flags' at offset 8, 'u.in.b' moves from offset 8 to 12

typedef struct {
	long id;
	union {
		struct {
#ifdef PATCHED
			int flags;
#endif
			int b;
		} in;
		char text[8];
	} u;
} conn_t;

int f(conn_t *c)
{
#ifdef PATCHED
	c->u.in.flags = 0;
#endif
	return c->u.in.b;
}
