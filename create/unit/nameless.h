/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nameless.h - types without a name in a unit of C++, lambdas above all, and which is which in the
 * other build
 *
 * The compiler numbers them, `f()::{lambda(int)#2}` or `f()::$_3`, and the number is part of the
 * names of everything that is made of them: the lambda's code, templates that it is given to,
 * tables of types, its static variables. One more in front renumbers the others.
 *
 *     nameless_text   the numbers in a symbol's name
 *     nameless_debug  what the debugging information tells of each type
 *     nameless_match  which type of one build is which of the other
 *     nameless        all of it for one unit, and the names that its symbols go by
 */
#ifndef USPL_CREATE_UNIT_NAMELESS_H
#define USPL_CREATE_UNIT_NAMELESS_H

#include <elfutils/libdw.h>

#include "create/unit/unit.h"

/* A type without a name, of one build. */
struct nameless_type {
	char *text;   /* as people read it, with its number: "f()::{lambda(int)#2}" */
	char *family; /* without its number; of those around it the numbers of the build before */
	size_t depth; /* how many numbers are in the text */
	sym_vec code; /* the functions that are named after it and no other type */
	sym_vec data; /* the variables */
	bool found;   /* in the debugging information: */
	bool clash;   /* several types were found under the name */
	Dwarf_Die die;
	int line;       /* of its declaration */
	VEC(int) lines; /* of its code, in the same file; sorted */
	VEC(int) own;   /* those of them that others of its family don't have */
	struct nameless_type *twin;
};

typedef VEC(struct nameless_type *) nameless_vec;

/* Those of one build, in the order of the symbols that name them. */
struct nameless_list {
	nameless_vec types;
	struct strmap by_text;
};

/* Those of both builds of a unit. */
struct nameless {
	struct nameless_list pre, post;
	const struct patched_lines *patched; /* the source lines that change; NULL: not known */
};

/*
 * Pairs the types of a unit, and sets syminfo.alias of the symbols of the build after the patch
 * that are named after them: the name of the same thing before, or one that nothing had.
 * USPL_E_UNSUPPORTED if it can't be told which is which. Sets unit->nameless, which nameless_free
 * frees.
 */
int nameless_pair(const struct diff *diff, struct unit *unit, struct uspl_err *err) uspl_must_check;
void nameless_free(struct nameless *nameless);

/* ---- nameless_text ---- */

/* A number in a demangled name. */
struct nameless_token {
	size_t start;  /* of the name that it ends, "f()::{lambda()#1}" */
	size_t own;    /* of the token itself, "{lambda()#1}" */
	size_t number; /* where the number stands */
	size_t end;    /* behind the token */
};

typedef VEC(struct nameless_token) nameless_tokens;
DEFINE_AUTO_RELEASE(tokens, nameless_tokens, vec_release)
#define auto_tokens __attribute__((cleanup(cleanup_tokens_)))

/* May the name, as the compiler wrote it, have such a number? */
bool nameless_is_in(const char *mangled);
/* The length of the name without what compilers put behind it. */
size_t nameless_stem_len(const char *mangled);
/* The name without what compilers put behind it (".cold", ".constprop.0"), for people. */
char *nameless_demangle(const char *mangled);
/* Appends the numbers of a demangled name, in their order. False when out of memory. */
bool nameless_find(const char *text, nameless_tokens *ret) uspl_must_check;
/* True if the token isn't part of what another one ends, as `f()::{lambda()#1}` is in its own. */
bool nameless_is_whole(const nameless_tokens *tokens, const struct nameless_token *token);
/* Appends the name as the compiler wrote it, without the numbers: what else tells symbols apart. */
void nameless_add_bare(const char *mangled, struct buf *ret);

/* ---- nameless_debug ---- */

/* Looks up the types of a build: die, line and lines. */
int nameless_look_up(struct side *side, struct nameless_list *list,
		     struct uspl_err *err) uspl_must_check;

/* True for the type of a lambda. */
bool nameless_is_lambda(Dwarf_Die *type);
/*
 * Appends, for each nameless type that a template was given, what it was called before the patch:
 * the template's own name doesn't tell one from another.
 */
void nameless_add_arguments(const struct nameless_list *list, bool post, Dwarf_Die *die,
			    struct buf *buf);

/* ---- nameless_match ---- */

/*
 * Sets twin in the types of one family of both builds, as far as it is certain; refuses the rest.
 */
int nameless_match(struct unit *unit, const nameless_vec *pre, const nameless_vec *post,
		   struct uspl_err *err) uspl_must_check;

#endif
