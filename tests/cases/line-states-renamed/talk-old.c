// SPDX-License-Identifier: GPL-3.0-or-later
// talk-old.c - the dialogue itself

#include <string.h>

#include "talk.h"

/* clang-format off */
int talk(struct pt *pt, const char *word)
{
	PT_BEGIN(pt);
	PT_WAIT(pt, !strcmp(word, "hello"));
	steps += 1;
	PT_WAIT(pt, !strcmp(word, "name"));
	steps += 10;
	PT_WAIT(pt, !strcmp(word, "bye"));
	steps += 100;
	PT_END(pt);
}
