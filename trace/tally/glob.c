// SPDX-License-Identifier: GPL-3.0-or-later
// glob.c - functions by patterns of their names

#include "trace/tally/glob.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/demangle.h"

static bool matches(const char *glob, const char *name)
{
	return name && !fnmatch(glob, name, 0);
}

bool glob_matches_any(const char *glob, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_free char *plain = demangle_symbol(names[i]);
		auto_free char *bare = demangle_bare(names[i]);

		if (matches(glob, names[i]) || matches(glob, plain) || matches(glob, bare))
			return true;
	}
	return false;
}

bool glob_is_function(const char *symbol, const char *name)
{
	static const char own_use[] = "__GI_";
	size_t len = strlen(name);

	if (!strncmp(symbol, own_use, sizeof(own_use) - 1))
		symbol += sizeof(own_use) - 1;
	symbol += strspn(symbol, "_");
	return !strncmp(symbol, name, len) && (!symbol[len] || symbol[len] == '@');
}
