// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - knows a scheme and a word by their ends, and reads them backwards

#include <stdio.h>
#include <string.h>

#include "serve.h"

#define SCHEME "http://"
#define WORD "barely-"

/* Do the bytes before `end` say that? */
KEPT int read_back(const char *end, const char *text)
{
	for (size_t n = strlen(text); n > 0;)
		if (text[--n] != *--end)
			return 0;
	return 1;
}

KEPT int is_scheme(const char *text)
{
	return strlen(text) == 7 && read_back(SCHEME + 7, text);
}

KEPT int is_word(const char *text)
{
	return strlen(text) == 6 && read_back(WORD + 6, text);
}

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d %d", is_scheme(request), is_word(request));
}
