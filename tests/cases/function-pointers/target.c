// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - calls through pointers

#include <stdio.h>
#include <string.h>

#include "serve.h"

typedef const char *(*text_fn)(void);

KEPT const char *text(void);
KEPT const char *store(void);
KEPT text_fn take(void);

static const text_fn table[] = { text };
static text_fn first = text, stored;

const char *text(void)
{
	return "old";
}

text_fn take(void)
{
	return text;
}

const char *store(void)
{
	return "not stored";
}

void answer(const char *request, char *reply, size_t size)
{
	text_fn *volatile from = &first;
	const text_fn *volatile constant = table;

	if (!strcmp(request, "call"))
		snprintf(reply, size, "%s", (*from)());
	else if (!strcmp(request, "table"))
		snprintf(reply, size, "%s", (*constant)());
	else if (!strcmp(request, "store"))
		snprintf(reply, size, "%s", store());
	else if (stored && stored != first)
		snprintf(reply, size, "stored another");
	else
		snprintf(reply, size, "%s", *from == take() ? "same" : "different");
}
