// SPDX-License-Identifier: GPL-3.0-or-later
// main.c - what runs once and changes is said: main, and a constructor
// ways: gcc -O0, gcc -O2, gcc -O2 -fPIC
// redirects: begin main
// warns: 'main' changes: it runs once

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
