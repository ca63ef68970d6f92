// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - calls a function written in assembler

#include <stdio.h>

#include "serve.h"

int three(void);

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d", three());
}
