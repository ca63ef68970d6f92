/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recipe.h - how a tree is built */
#ifndef USPL_CREATE_TREE_RECIPE_H
#define USPL_CREATE_TREE_RECIPE_H

#include "base/cleanup.h"
#include "base/types.h"

struct uspl_err;

/* How to build a tree: shell commands, run in its root. */
struct recipe {
	char *setup;   /* once, before the first build; NULL: nothing */
	char *build;   /* in each build */
	char *install; /* in its place where build compiles nothing; NULL: there is none */
	char *ship;    /* puts what is shipped where shipped_find looks; NULL: nothing is known */
	bool twice; /* build goes through everything again, which not every package's rules can */
};

/*
 * Finds out how the tree is built. `command` is the user's own, NULL if there is none.
 * configured_adapt finds out what the tree needs to be configured anew.
 */
int recipe_find(const char *tree, const char *command, int jobs, struct recipe *ret,
		struct uspl_err *err) uspl_must_check;
void recipe_release(struct recipe *recipe);
DEFINE_AUTO_RELEASE(recipe, struct recipe, recipe_release)
#define auto_recipe __attribute__((cleanup(cleanup_recipe_)))

#endif
