// SPDX-License-Identifier: GPL-3.0-or-later
// price.c - one of them

#include "rate.h"
#include "serve.h"

KEPT int price(int n)
{
	return rate(n);
}
