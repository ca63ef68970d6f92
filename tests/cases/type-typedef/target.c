// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - keeps numbers of its own type behind a pointer to anything

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

typedef int number;

static void *kept;

void answer(const char *request, char *reply, size_t size)
{
	number *numbers = kept;

	(void)request;
	if (!numbers) {
		numbers = kept = calloc(4, 16);
		if (!numbers)
			return;
		numbers[0] = 7;
		numbers[1] = 9;
	}
	snprintf(reply, size, "%ld", (long)numbers[1]);
}
