// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - asks for what comes behind the program, and asks a plugin

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"

int behind(void);

KEPT int behind(void)
{
	void *found = dlsym(RTLD_NEXT, "strlen");

	return 10 + (found != NULL);
}

void answer(const char *request, char *reply, size_t size)
{
	static int (*plug)(void), (*extra)(void);
	void *plugin = plug ? NULL : dlopen("libplug.so", RTLD_NOW | RTLD_LOCAL);

	(void)request;
	if (plugin) {
		plug = (int (*)(void))dlsym(plugin, "plug");
		extra = (int (*)(void))dlsym(plugin, "extra");
	}
	snprintf(reply, size, "%d %d %d", behind(), plug ? plug() : 0, extra ? extra() : 0);
}
