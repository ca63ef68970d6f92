// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - what three sources take from headers

#include <stdio.h>

#include "serve.h"

int covered(void);
int asked(void);
int uncovered(void);

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d %d %d", covered(), asked(), uncovered());
}
