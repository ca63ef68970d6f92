// SPDX-License-Identifier: GPL-3.0-or-later
// look.c - a subcommand that only looks gives up what it doesn't need for that

#include "trace/output/look.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/confine.h"
#include "base/demangle.h"

static bool goes_on, has_screen;

void look_go_on(void)
{
	goes_on = true;
}

void look_only(void)
{
	if (goes_on)
		return;
	/* A library can't be loaded any more afterwards, and names of C++ take one. */
	free(demangle_name("_Z1fv"));
	confine(has_screen ? CONFINE_SCREEN : CONFINE_LOOK);
}

void look_keep_screen(void)
{
	has_screen = true;
}
