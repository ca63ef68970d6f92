// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - uses the library

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"
#include "sum.h"

void answer(const char *request, char *reply, size_t size)
{
	int sum = sum_of(atoi(request));

	snprintf(reply, size, "%d %d", sum, calls());
}
