// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts in an object on the heap

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

struct session {
	char *name;
	int count;
};

static struct session *session;

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	if (!session)
		session = calloc(1, sizeof(*session));
	if (!session)
		return;
	session->count++;
	snprintf(reply, size, "%d", session->count);
}
