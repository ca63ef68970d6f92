// SPDX-License-Identifier: GPL-3.0-or-later
// number.c - a floating point constant changes
// ways: any
// redirects: f

double f(double x)
{
#ifndef PATCHED
	return x * 1.25;
#else
	return x * 1.75;
#endif
}

double g(double x)
{
	return x * 3.5;
}
