// SPDX-License-Identifier: GPL-3.0-or-later
// func_name.c - __func__ is no variable: each function has a fresh copy
// ways: any
// redirects: g
// carries: e

int outside(const char *);

#ifdef PATCHED
__attribute__((noinline)) int e(void)
{
	return outside(__func__);
}
#endif

int f(void)
{
	return outside(__func__);
}

int g(void)
{
#ifndef PATCHED
	return outside(__func__);
#else
	return e() + outside(__func__);
#endif
}
