// SPDX-License-Identifier: GPL-3.0-or-later
// static_warned.c - static locals of a macro, all used alike: their lines tell which one is new
// ways: any
// redirects: f
// carries: f
// warns: none

void print(const char *text);

#define WARN_ONCE(text)                                                                            \
	do {                                                                                       \
		static int warned;                                                                 \
                                                                                                   \
		if (!warned) {                                                                     \
			warned = 1;                                                                \
			print(text);                                                               \
		}                                                                                  \
	} while (0)

void f(int x)
{
	if (x == 1)
		WARN_ONCE("one");
#ifdef PATCHED
	if (x == 2)
		WARN_ONCE("two");
#endif
	if (x == 3)
		WARN_ONCE("three");
}
