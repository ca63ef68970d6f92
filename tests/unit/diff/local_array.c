// SPDX-License-Identifier: GPL-3.0-or-later
// local_array.c - the initialiser of a local array of pointers, which gcc keeps in a nameless .data
// ways: any
// redirects: f

int show(const char **);

int f(void)
{
	const char *help[] = { "one",
			       "two",
			       "three",
			       "four",
			       "five",
#ifdef PATCHED
			       "five and a half",
#endif
			       "six",
			       "seven",
			       "eight",
			       "nine",
			       "ten",
			       "eleven",
			       0 };

	return show(help);
}

int g(void)
{
	const char *help[] = { "un",   "deux", "trois", "quatre", "cinq",  "six", "sept",
			       "huit", "neuf", "dix",   "onze",   "douze", 0 };

	return show(help);
}
