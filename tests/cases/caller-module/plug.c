// SPDX-License-Identifier: GPL-3.0-or-later
// plug.c - looks a function up in what the plugin needs, and opens what only the plugin finds

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

int plug(void);
int extra(void);

int plug(void)
{
	int (*base)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "base");

	return 10 + (base ? base() : 0);
}

int extra(void)
{
	void *opened = dlopen("libextra.so", RTLD_NOW);

	if (opened)
		dlclose(opened);
	return 10 + (opened != NULL);
}
