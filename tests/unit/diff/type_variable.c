// SPDX-License-Identifier: GPL-3.0-or-later
// type_variable.c - a variable changes its type and keeps its size
// ways: gcc -O0, gcc -O2, clang -O2
// refuses: data-change variable 'rate': its type changes from 'long

#ifdef PATCHED
double rate;
#else
long rate;
#endif

void set(int n)
{
	rate = n;
}
