// SPDX-License-Identifier: GPL-3.0-or-later
// no_seed.c - a new variable, and a constant that moves within new code: nothing to warn of
// ways: any
// warns: none
// redirects: hash

unsigned int pick(void);

#ifdef PATCHED
static unsigned int calls;

static __attribute__((noinline)) unsigned int mix(unsigned int sum)
{
	return sum ^ 0x432a9843;
}
#else
#define mix(sum) ((sum) ^ 0x432a9843)
#endif

unsigned int hash(const char *text)
{
	unsigned int sum = pick();

#ifdef PATCHED
	if (calls++ > 3)
		sum = pick();
#endif
	while (*text)
		sum = mix(sum) + *text++;
	return sum;
}
