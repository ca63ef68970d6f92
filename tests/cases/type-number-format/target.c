// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - adds up in the heap

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

struct state {
	long double sum;
	long n;
};

static struct state *state;

/* Has the program bring along what adds such numbers. */
int (*volatile kept)(__float128 *sum);

static int add_to(__float128 *sum)
{
	*sum += 1;
	return 0;
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	if (!state) {
		state = calloc(1, sizeof(*state));
		if (!state)
			exit(1);
		state->sum = 3;
		kept = add_to;
	}
	state->sum += 1;
	state->n++;
	snprintf(reply, size, "%d", (int)(double)state->sum);
}
