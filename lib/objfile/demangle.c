// SPDX-License-Identifier: GPL-3.0-or-later
// demangle.c - the names of C++ as people write them

#include "objfile/demangle.h"

#include <bfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* From include/demangle.h of libiberty, which not every libbfd comes with: with parameters. */
#define WITH_PARAMETERS 3
#define NAME_MAX_LEN 4096

char *demangle_name(const char *name)
{
	char *plain = NULL;

	if (!strncmp(name, "_Z", 2) && strlen(name) < NAME_MAX_LEN)
		plain = bfd_demangle(NULL, name, WITH_PARAMETERS);
	return plain ? plain : strdup(name);
}

/* Replaces text[0 .. len) by its plain form; returns where to go on. */
static char *replace(char *text, size_t len, size_t room)
{
	auto_free char *name = strndup(text, len);
	auto_free char *plain = name ? demangle_name(name) : NULL;
	size_t rest = strlen(text + len) + 1, plain_len = plain ? strlen(plain) : 0;

	if (!plain || plain_len + rest > room)
		return text + len;
	memmove(text + plain_len, text + len, rest);
	memcpy(text, plain, plain_len);
	return text + plain_len;
}

void demangle_message(char *text, size_t size)
{
	char *at = text;

	while ((at = strstr(at, "_Z"))) {
		bool quoted = at > text && (at[-1] == '\'' || at[-1] == ':');
		size_t len = strcspn(at, "' ");

		if (quoted && at[len] == '\'')
			at = replace(at, len, size - (size_t)(at - text));
		else
			at += len;
	}
}
