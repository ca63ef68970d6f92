// SPDX-License-Identifier: GPL-3.0-or-later
// other.c - what the change comes to refer to

#include "other.h"
#include "serve.h"

int total = 100;

KEPT int rounded(int n)
{
	return (n + 5) / 10 * 10;
}

KEPT int add_to_total(int n)
{
	total += rounded(n);
	return total;
}

KEPT int describe_total(void)
{
	return total >= 0 ? total : add_to_total(1);
}
