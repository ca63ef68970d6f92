// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - opens and closes copies of the library

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "serve.h"

typedef void (*plugin_fn)(const char *word, char *reply, size_t size);

static void *handles[4];
static size_t n_handles;

static const char *greet(void)
{
	return "old";
}

static const char *keep(void *handle)
{
	if (!handle)
		return dlerror();
	handles[n_handles++] = handle;
	return "loaded";
}

/* Closes the newest copy. With `occupy`, nothing can be loaded where it was. */
static const char *unload(int occupy)
{
	void *handle = handles[--n_handles];
	struct link_map *map = handle;
	char *start = (char *)map->l_addr;

	dlclose(handle);
	if (occupy && mmap(start, 4096, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != start)
		return "failed";
	return "unloaded";
}

/* Calls into all copies, the oldest first. */
static void call(const char *word, char *reply, size_t size)
{
	for (size_t i = 0; i < n_handles; i++) {
		plugin_fn fn = (plugin_fn)dlsym(handles[i], "plugin");
		char part[64];

		fn(word, part, sizeof(part));
		snprintf(reply + strlen(reply), size - strlen(reply), "%s%s", i ? ", " : "", part);
	}
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strncmp(request, "call ", 5))
		call(request + 5, reply, size);
	else if (!strncmp(request, "load ", 5))
		snprintf(reply, size, "%s", keep(dlopen(request + 5, RTLD_NOW)));
	else if (!strncmp(request, "copy ", 5))
		snprintf(reply, size, "%s", keep(dlmopen(LM_ID_NEWLM, request + 5, RTLD_NOW)));
	else if (!strcmp(request, "unload"))
		snprintf(reply, size, "%s", unload(0));
	else if (!strcmp(request, "unload and occupy"))
		snprintf(reply, size, "%s", unload(1));
	else
		snprintf(reply, size, "%s %s", greet(), request);
}
