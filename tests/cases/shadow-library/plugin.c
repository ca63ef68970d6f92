// SPDX-License-Identifier: GPL-3.0-or-later
// plugin.c - the library that is opened late: remembers words

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
	struct word *next;
	char text[16];
};

static struct word *words;

/* The one function that the program looks up. */
void plugin(const char *word, char *reply, size_t size);

void plugin(const char *word, char *reply, size_t size)
{
	struct word *known = words;

	while (known && strcmp(known->text, word))
		known = known->next;
	if (!known) {
		known = malloc(sizeof(*known));
		snprintf(known->text, sizeof(known->text), "%s", word);
		known->next = words;
		words = known;
	}
	snprintf(reply, size, "old %s", known->text);
}
