// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - calculates

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

KEPT void calculate(double x, char *reply, size_t size);

void calculate(double x, char *reply, size_t size)
{
	volatile double y = sqrt(x);

	snprintf(reply, size, "%.3f", y + 0 * cbrt(y));
}

void answer(const char *request, char *reply, size_t size)
{
	calculate(atof(request), reply, size);
}
