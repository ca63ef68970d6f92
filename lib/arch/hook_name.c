// SPDX-License-Identifier: GPL-3.0-or-later
// hook_name.c - the functions that compilers have every function call, for a profiler

#include "arch/hook_name.h"

#include <string.h>

static const char *const names[HOOK_NAMES] = { "mcount", "_mcount", "__fentry__" };

const char *hook_name(size_t i)
{
	return names[i];
}

bool is_hook_name(const char *name)
{
	for (size_t i = 0; i < HOOK_NAMES; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}
