// SPDX-License-Identifier: GPL-3.0-or-later
// new_thread_local.c - a new thread-local variable
// ways: any
// refuses: unsupported post.c:12: new thread-local variable 't'

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
