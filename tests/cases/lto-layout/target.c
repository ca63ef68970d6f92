// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - uses them

#include <stdio.h>
#include <string.h>

#include "conn.h"
#include "serve.h"

KEPT void answer(const char *request, char *reply, size_t size)
{
	struct conn *conn = conn_get();

	conn->requests++;
	conn->length += (int)strlen(request);
	snprintf(reply, size, "%d %d", conn->requests, conn->length);
}
