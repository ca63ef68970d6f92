// SPDX-License-Identifier: GPL-3.0-or-later
// plugin.c - the library that is opened late

#include <stddef.h>
#include <stdio.h>

static int calls;

/* The one function that the program looks up. */
void plugin(const char *word, char *reply, size_t size);

void plugin(const char *word, char *reply, size_t size)
{
	calls++;
	snprintf(reply, size, "old %s %d", word, calls);
}
