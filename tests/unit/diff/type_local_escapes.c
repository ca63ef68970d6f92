// SPDX-License-Identifier: GPL-3.0-or-later
// type_local_escapes.c - the same, but the static function is also a callback: who knows what it is called with
// ways: any
// refuses: data-change 'struct state' changes: new member 'errors' at offset 0, 'at' moves from offset 0 to 8

struct state {
#ifdef PATCHED
	long errors;
#endif
	int at;
};

__attribute__((noinline)) static int step(struct state *s)
{
	return s->at++;
}

int (*callback)(struct state *) = step;

int parse(int n)
{
	struct state s = { .at = n };

	return step(&s) + s.at;
}
