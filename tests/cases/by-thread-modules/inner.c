// SPDX-License-Identifier: GPL-3.0-or-later
// inner.c - a library that calls the program

#include <unistd.h>

#include "calls.h"

int inner(int depth)
{
	usleep(1000);
	return depth > 0 ? 1 + outer(depth - 1) : 1;
}
