// SPDX-License-Identifier: GPL-3.0-or-later
// counted.c - __COUNTER__ names functions and variables; one more in front renumbers the rest
// ways: any
// redirects: answer
// warns: none

#define PASTE(a, b) a##b
#define NAME(a, n) PASTE(a, n)
#define COUNT_AS(n, what, by)                                                                      \
	static int NAME(hits_, n);                                                                 \
	static __attribute__((noinline)) int NAME(count_, n)(void)                                 \
	{                                                                                          \
		return NAME(hits_, n) += by;                                                       \
	}                                                                                          \
	int what(void)                                                                             \
	{                                                                                          \
		return NAME(count_, n)();                                                          \
	}
#define COUNT(what, by) COUNT_AS(__COUNTER__, what, by)

#ifdef PATCHED
COUNT(fresh, 5)
#line 24
#endif
COUNT(first, 1)
COUNT(second, 2)
COUNT(third, 3)

int answer(void)
{
#ifdef PATCHED
	return first() + fresh();
#else
	return first();
#endif
}
