/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * held.h - variables that hold launchers back, as long as they are in front of the wrapper
 *
 * A cache or another machine would give an object that the wrapper never sees. So ccache and distcc
 * are told to do nothing by themselves, wherever a build calls them past the wrapper; what the user
 * has set is kept for those that the wrapper runs.
 */
#ifndef USPL_CREATE_WRAPPER_HELD_H
#define USPL_CREATE_WRAPPER_HELD_H

struct held {
	const char *name;
	const char *value; /* no build sets it itself */
	const char *kept;  /* the variable with what was there before; not set if nothing was */
};

/* Ends with a name that is NULL. */
static const struct held held_variables[] = {
	{ "CCACHE_DISABLE", "uspl", "USPL_CC_CCACHE_DISABLE" },
	{ "DISTCC_HOSTS", "localhost/999", "USPL_CC_DISTCC_HOSTS" },
	{ 0 },
};

#endif
