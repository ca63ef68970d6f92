// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts in an object on the heap

#include <stdio.h>
#include <stdlib.h>

#include "conn.h"
#include "serve.h"

static struct conn *conn;

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	if (!conn)
		conn = calloc(1, sizeof(*conn));
	if (!conn)
		return;
	conn->requests++;
	snprintf(reply, size, "%ld", conn->requests);
}
