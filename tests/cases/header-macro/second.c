// SPDX-License-Identifier: GPL-3.0-or-later
// second.c - uses the macro in another unit

#include "scale.h"

KEPT int second(int n)
{
	return SCALE(n) + 1;
}
