// SPDX-License-Identifier: GPL-3.0-or-later
// string_end.c - a string changes that is only referred to by its end, or by a place within it, from where it is read backwards
// ways: gcc -O2, gcc -O1, gcc -O0, gcc -O2 -fno-pie, gcc -Os -fPIC, clang -O2
// redirects: ends_so middle_is

int read_back(const char *end, const char *text, int n);
int ends_so(const char *text), middle_is(const char *text);

#ifdef PATCHED
#define SCHEME "ftps://"
#define WORD "forkly-"
#else
#define SCHEME "http://"
#define WORD "barely-"
#endif

int ends_so(const char *text)
{
	return read_back(SCHEME + 7, text, 7);
}

int middle_is(const char *text)
{
	return read_back(WORD + 6, text, 6);
}
