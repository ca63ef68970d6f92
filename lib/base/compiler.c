// SPDX-License-Identifier: GPL-3.0-or-later
// compiler.c - what a program is, by its name: a compiler, a linker, or one that runs compilers

#include "base/compiler.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

/* Compilers and linkers; they may have a prefix that ends in '-', and a version after a '-'. */
static const char *const tools[] = {
	"cc",  "gcc", "g++",    "c++",     "clang",  "clang++", "c89",
	"c99", "ld",  "ld.bfd", "ld.gold", "ld.lld", "ld.mold",
};

static const char *const launchers[] = { "ccache", "distcc", "sccache", "icecc" };

bool compiler_is_tool(const char *name)
{
	size_t len = strlen(name), version = len;

	while (version && (isdigit((unsigned char)name[version - 1]) || name[version - 1] == '.'))
		version--;
	if (version < len && version > 1 && name[version - 1] == '-')
		len = version - 1;
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		size_t tool = strlen(tools[i]);

		if (len >= tool && !strncmp(name + len - tool, tools[i], tool) &&
		    (len == tool || name[len - tool - 1] == '-'))
			return true;
	}
	return false;
}

bool compiler_is_launcher(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(launchers); i++)
		if (!strcmp(name, launchers[i]))
			return true;
	return false;
}

bool compiler_is_disguise(const char *path)
{
	auto_free char *real = realpath(path, NULL);

	return real && compiler_is_launcher(file_basename(real));
}

char *compiler_search(const char *path, const char *name)
{
	while (path) {
		size_t len = strcspn(path, ":");
		auto_free char *file = NULL;

		if (asprintf(&file, "%.*s%s%s", (int)len, path, len ? "/" : "./", name) < 0) {
			file = NULL;
			return NULL;
		}
		if (access(file, X_OK) == 0 && !compiler_is_disguise(file))
			return take_ptr(file);
		path = path[len] ? path + len + 1 : NULL;
	}
	return NULL;
}
