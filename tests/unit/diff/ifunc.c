// SPDX-License-Identifier: GPL-3.0-or-later
// ifunc.c - the resolver of an indirect function changes
// ways: gcc -O2, gcc -O2 -fno-pie
// refuses: unsupported indirect function

static int one(void)
{
	return 1;
}

#ifdef PATCHED
static int two(void)
{
	return 2;
}
#endif

static void *pick(void)
{
#ifndef PATCHED
	return one;
#else
	return two;
#endif
}

int f(void) __attribute__((ifunc("pick")));
