// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a dialogue: hello, name, bye

#include <stdio.h>
#include <string.h>

#include "serve.h"
#include "target.h"

static struct pt dialogue;
static int steps;

/* clang-format off */
static KEPT int talk(struct pt *pt, const char *word)
{
	PT_BEGIN(pt);
	PT_WAIT(pt, !strcmp(word, "hello"));
	steps += 1;
	PT_WAIT(pt, !strcmp(word, "name"));
	steps += 10;
	PT_WAIT(pt, !strcmp(word, "bye") ||
		    !strcmp(word, "quit"));
	steps += 100;
	PT_END(pt);
}

/* clang-format on */

void answer(const char *request, char *reply, size_t size)
{
	talk(&dialogue, request);
	snprintf(reply, size, "%d", steps);
}
