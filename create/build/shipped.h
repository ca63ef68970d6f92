/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shipped.h - which of the programs that a source package links are in its packages */
#ifndef USPL_CREATE_BUILD_SHIPPED_H
#define USPL_CREATE_BUILD_SHIPPED_H

#include "base/strmap.h"

struct build;
struct build_options;
struct build_paths;
struct uspl_err;

/* What is known of what a source package ships. */
struct shipped {
	const char *command; /* the recipe's; NULL: nothing will be known */
	bool asked;
	struct strmap left_out; /* paths of programs that no package has */
};

/*
 * Marks the links of a build that are in none of the tree's packages. The first time it runs the
 * command that fills the packages, in the tree; put_back: then the tree is put back as it was. If
 * that fails, a note says so, and all count as shipped.
 */
int shipped_find(struct shipped *shipped, const struct build_paths *paths,
		 const struct build_options *options, bool put_back, struct build *build,
		 struct uspl_err *err) uspl_must_check;
void shipped_release(struct shipped *shipped);

#endif
