// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - defines what the libraries define, too

#include <string.h>

#include "names.h"
#include "serve.h"

int own_plain(void);

const char *whose(void)
{
	return "program";
}

/* The library's is protected. */
int own_plain(void)
{
	return 1000;
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "plain"))
		tell_plain(reply, size);
	else
		tell_symbolic(reply, size);
}
