// SPDX-License-Identifier: GPL-3.0-or-later
// ifunc_added.c - a function that the program has becomes the resolver of a new indirect one
// ways: gcc -O0, gcc -O2, clang -O2
// refuses: unsupported resolver

int calls;

static int two(void)
{
	return 2;
}

static int three(void)
{
	return 3;
}

/* LLVM 19 does without an indirect function whose resolver returns the same one always. */
__attribute__((used)) static int (*choose(void))(void)
{
	return calls > 3 ? three : two;
}

int (*chooser(void))(void)
{
	calls++;
	return choose();
}

#ifdef PATCHED
static int chosen(void) __attribute__((ifunc("choose")));
#endif

int f(int x)
{
#ifndef PATCHED
	return x;
#else
	return x + chosen();
#endif
}
