// SPDX-License-Identifier: GPL-3.0-or-later
// string_backwards.c - a string changes that is only referred to by the byte before it, where another one ends
// ways: gcc -O2, gcc -O1, gcc -O2 -fno-pie, gcc -Os -fPIC
// redirects: is_scheme

extern const unsigned char lower[256];
int is_scheme(const char *text, const char **kind);

#ifdef PATCHED
#define SCHEME "ftps://"
#else
#define SCHEME "http://"
#endif

int is_scheme(const char *text, const char **kind)
{
	const char *end = SCHEME + 7;

	*kind = "a scheme";
	for (text += 7; end > SCHEME;)
		if (lower[(unsigned char)*--text] != lower[(unsigned char)*--end])
			return 0;
	return 1;
}
