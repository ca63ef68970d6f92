// SPDX-License-Identifier: GPL-3.0-or-later
// seed.c - a constant with which values are computed that the program keeps becomes a variable
// ways: gcc -O0, gcc -O2, gcc -O3 -fno-pie, gcc -Os -fPIC, clang -O0, clang -O2
// refuses: data-change 'hash' no longer computes with the constant 0x432a9843, and reads the new variable 'seed'

unsigned int pick(void);

#ifdef PATCHED
static unsigned int seed;

static unsigned int start(void)
{
	if (!seed)
		seed = pick();
	return seed;
}
#define START start()
#else
#define START 0x432a9843
#endif

unsigned int hash(const char *text)
{
	unsigned int sum = START;

	while (*text)
		sum = sum * 31 + *text++;
	return sum;
}
