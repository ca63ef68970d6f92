// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - knows a scheme, which it reads from its end

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"

#define SCHEME "http://"

unsigned char lower[256];
int is_scheme(const char *text, const char **kind);

KEPT int is_scheme(const char *text, const char **kind)
{
	const char *end = SCHEME + 7;

	*kind = "a scheme";
	for (text += 7; end > SCHEME;)
		if (lower[(unsigned char)*--text] != lower[(unsigned char)*--end])
			return 0;
	return 1;
}

void answer(const char *request, char *reply, size_t size)
{
	const char *kind;
	int known;

	for (int i = 0; i < 256; i++)
		lower[i] = (unsigned char)tolower(i);
	known = strlen(request) == 7 && is_scheme(request, &kind);
	snprintf(reply, size, "%d %s", known, kind);
}
