// SPDX-License-Identifier: GPL-3.0-or-later
// other.c - overrides a weak function

#include "serve.h"

KEPT int chosen(int n);

int chosen(int n)
{
	return n + 100;
}
