// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - calls it, always with the same ones

#include <stdio.h>
#include <stdlib.h>

#include "scale.h"
#include "serve.h"

KEPT int plain(int n)
{
	return scale(n, 1, 10);
}

KEPT int larger(int n)
{
	return scale(n, 3, 10);
}

KEPT void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%d %d", plain(n), larger(n));
}
