/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source_package.h - a source package of a version, fetched and unpacked */
#ifndef USPL_CREATE_PACKAGE_SOURCE_PACKAGE_H
#define USPL_CREATE_PACKAGE_SOURCE_PACKAGE_H

#include "create/package/apt.h"

struct source_package {
	char *name, *version;
	char *description; /* the text of its .dsc file */
	char *tree;        /* where it is unpacked, its patches applied as its format has it */
};

/*
 * Finds the source package that is called so, or that a binary package of this name is made of;
 * allocated. USPL_E_FILE: the archives have none.
 */
int source_package_find(struct apt *apt, const char *name, char **ret,
			struct uspl_err *err) uspl_must_check;
/*
 * Fetches the version, and unpacks it to `tree`, which isn't there yet. What was fetched once is
 * used again. USPL_E_FILE: the archives don't have it (any more).
 */
int source_package_fetch(struct apt *apt, const char *name, const char *version, const char *tree,
			 struct source_package *ret, struct uspl_err *err) uspl_must_check;
/* USPL_E_BUILD: build dependencies aren't installed; the message names them, the hint a command. */
int source_package_check_dependencies(const struct source_package *source,
				      struct uspl_err *err) uspl_must_check;
/* True if dpkg-source applies its patches: format 3.0 (quilt). */
bool source_package_is_quilt(const struct source_package *source);
void source_package_release(struct source_package *source);

DEFINE_AUTO_RELEASE(source_package, struct source_package, source_package_release)
#define auto_source_package __attribute__((cleanup(cleanup_source_package_)))

#endif
