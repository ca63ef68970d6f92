/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * late.h - libraries that are loaded when they are needed
 *
 * Each library that a program is linked with costs its start time, whether or not it is used:
 * libarchive brings seven others and takes 3 ms, libbfd and libopcodes take half a millisecond, and
 * the whole of an apply should take 5. Those that few commands need come late. late_names.h, which
 * is made with the objects, has the names under which the linker would have asked for them.
 */
#ifndef USPL_BASE_LATE_H
#define USPL_BASE_LATE_H

#include <stddef.h>

#include "base/types.h"

/* A function of a library, and where its address goes. */
struct late_function {
	const char *name;
	void **place;
};

/*
 * Loads a library and fills in n functions, all or none. False if it isn't there, or lacks one of
 * them. It stays loaded. Cheap when it was loaded before.
 */
bool late_load(const char *library, const struct late_function *functions, size_t n);

/* A static variable for a function, with the type that the library's header gives it. */
#define LATE(function) static __typeof__(&(function)) late_##function
/* Its line in a table. */
#define LATE_LINE(function)                                                                        \
	{                                                                                          \
#function, (void **)&late_##function                                               \
	}

#endif
