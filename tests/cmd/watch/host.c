// SPDX-License-Identifier: GPL-3.0-or-later
// host.c - opens a library when it is told its path, and says then what that says

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"

typedef void (*plugin_fn)(char *reply, size_t size);

static plugin_fn plugin;

void answer(const char *request, char *reply, size_t size)
{
	void *handle;

	if (request[0] == '/') {
		handle = dlopen(request, RTLD_NOW);
		plugin = handle ? (plugin_fn)dlsym(handle, "plugin") : NULL;
	}
	snprintf(reply, size, "no library");
	if (plugin)
		plugin(reply, size);
}
