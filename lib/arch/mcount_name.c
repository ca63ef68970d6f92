// SPDX-License-Identifier: GPL-3.0-or-later
// mcount_name.c - the functions that compilers have every function call, for a profiler

#include "arch/mcount_name.h"

#include <string.h>

static const char *const names[MCOUNT_NAMES] = { "mcount", "_mcount", "__fentry__" };

const char *mcount_name(size_t i)
{
	return names[i];
}

bool is_mcount_name(const char *name)
{
	for (size_t i = 0; i < MCOUNT_NAMES; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}
