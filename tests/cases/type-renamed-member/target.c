// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - adds numbers up in a structure

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

struct totals {
	int requests;
	int sum;
};

static struct totals totals;

void answer(const char *request, char *reply, size_t size)
{
	totals.requests++;
	totals.sum += atoi(request);
	snprintf(reply, size, "%d", totals.sum);
}
