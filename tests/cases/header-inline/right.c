// SPDX-License-Identifier: GPL-3.0-or-later
// right.c - uses the header too

#include <stdio.h>

#include "scale.h"
#include "serve.h"

KEPT void right(int n, char *reply, size_t size)
{
	snprintf(reply, size, "right %d", scale(n));
}
