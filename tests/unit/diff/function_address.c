// SPDX-License-Identifier: GPL-3.0-or-later
// function_address.c - the address of a function that exists is the original's
// ways: any
// redirects: f
// refers: callback

int callback(int x)
{
	return x / 3;
}

int (*f(void))(int)
{
#ifndef PATCHED
	return 0;
#else
	return callback;
#endif
}
