// SPDX-License-Identifier: GPL-3.0-or-later
// counted_by_hand.c - people number names, too: a new one, and one that takes the place of another
// ways: any
// redirects: answer
// refers: t.c:hits1 t.c:hits2
// carries: t.c:hits3
// warns: none

static int hits1, hits2;
#ifdef PATCHED
static int hits3;
#endif

int first(void)
{
	return ++hits1;
}

int second(void)
{
	return ++hits2;
}

int answer(void)
{
#ifdef PATCHED
	return ++hits2 + hits1 + ++hits3;
#else
	return ++hits1 + hits2;
#endif
}
