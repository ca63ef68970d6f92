// SPDX-License-Identifier: GPL-3.0-or-later
// constructor_body.c - the same, seen from the constructor
// ways: gcc -O0, gcc -O2, gcc -O2 -fPIC
// redirects: begin main
// warns: 'begin' changes: it runs at the start or end of the program only

static int n;

__attribute__((constructor)) static void begin(void)
{
#ifdef PATCHED
	n += 2;
#endif
	n++;
}

int main(void)
{
#ifdef PATCHED
	n++;
#endif
	return n;
}
