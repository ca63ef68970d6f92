// SPDX-License-Identifier: GPL-3.0-or-later
// late.c - libraries that are loaded when they are needed

#include "base/late.h"

#include <dlfcn.h>

bool late_load(const char *library, const struct late_function *functions, size_t n)
{
	void *handle;

	if (n && *functions[n - 1].place)
		return true;
	/* All of it is bound now: nothing is to be bound while a thread stands still. */
	handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; i < n; i++) {
		void *address = handle ? dlsym(handle, functions[i].name) : NULL;

		if (!address)
			return false;
		*functions[i].place = address;
	}
	return true;
}
