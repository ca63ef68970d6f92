// SPDX-License-Identifier: GPL-3.0-or-later
// refname.c - the names by which update and running program speak of the same thing

#include "objfile/refname.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *refname_local(const char *unit, const char *name)
{
	char *ref = NULL;

	return asprintf(&ref, "%s:%s", unit, name) < 0 ? NULL : ref;
}

const char *refname_symbol(const char *ref)
{
	const char *colon = strrchr(ref, ':');

	return colon ? colon + 1 : ref;
}

bool refname_is_local(const char *ref)
{
	return strchr(ref, ':') != NULL;
}

bool refname_in_file(const char *ref, const char *file)
{
	const char *colon = strrchr(ref, ':'), *start;
	size_t len = strlen(file);

	if (!colon)
		return false;
	start = memrchr(ref, '/', (size_t)(colon - ref));
	start = start ? start + 1 : ref;
	return (size_t)(colon - start) == len && !memcmp(start, file, len);
}
