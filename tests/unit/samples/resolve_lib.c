// SPDX-License-Identifier: GPL-3.0-or-later
// resolve_lib.c - sample: the library that resolve.c is linked with

int interposed(int n);
int in_library(int n);
int hidden_in_library(int n) __attribute__((visibility("hidden")));

int interposed(int n)
{
	return n;
}

int hidden_in_library(int n)
{
	return n * 7;
}

int in_library(int n)
{
	return interposed(n) + hidden_in_library(n);
}
