// SPDX-License-Identifier: GPL-3.0-or-later
// type_local.c - a structure that only automatic variables of changed functions have, passed by pointer to a static one
// ways: gcc -O0, gcc -O2, gcc -O3 -fno-pie, gcc -Os -fPIC, clang -O0, clang -O2 -fPIC
// redirects: parse step
// warns: none

struct state {
#ifdef PATCHED
	long errors;
#endif
	int at;
	int depth;
};

__attribute__((noinline, noipa)) static int step(struct state *s, int c)
{
	s->at += c;
#ifdef PATCHED
	s->errors++;
#endif
	return s->depth++;
}

int parse(const char *text)
{
	struct state s = { .at = *text };

	while (*text)
		step(&s, *text++);
	return s.at;
}
