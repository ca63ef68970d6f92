// SPDX-License-Identifier: GPL-3.0-or-later
// new_thread_local.c - a new thread-local variable
// ways: any
// redirects: f
// carries: t.c:t

#ifndef PATCHED
int f(void)
{
	return 1;
}
#else
static __thread int t;

int f(void)
{
	return t++;
}
#endif
