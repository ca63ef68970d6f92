// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - answers always the same

#include <stdio.h>

#include "serve.h"

void answer(const char *request, char *reply, size_t size)
{
	const char *text = "same";

	/* The request is not looked at. */
	(void)request;
	snprintf(reply, size, "%s", text);
}
