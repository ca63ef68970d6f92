// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - opens its library, uses it, and closes it, as it is asked to

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"

static void *library;

void answer(const char *request, char *reply, size_t size)
{
	long (*twice)(long) = library ? (long (*)(long))dlsym(library, "twice") : NULL;

	if (!strcmp(request, "open"))
		library = dlopen("./libtwice.so", RTLD_NOW);
	if (!strcmp(request, "close") && library) {
		dlclose(library);
		library = NULL;
	}
	if (!strcmp(request, "use") && twice)
		snprintf(reply, size, "%ld", twice(21));
	else
		snprintf(reply, size, "%s", library ? "open" : "closed");
}
