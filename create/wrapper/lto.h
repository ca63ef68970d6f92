/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lto.h - the code that link-time optimisation makes, kept as it goes to the linker
 *
 * gcc's plugin has lto-wrapper make code of all objects of a link together, and hands the linker
 * the objects that it names on its standard output: those with code ("ltrans"), one or several,
 * and one with the types of each source ("early debug"). A stand-in for lto-wrapper keeps copies
 * of them; after the link they are joined to one object, in which each function has a section of
 * its own. LLVM's linker and its plugin for others write their objects where they are told to.
 */
#ifndef USPL_CREATE_WRAPPER_LTO_H
#define USPL_CREATE_WRAPPER_LTO_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "create/wrapper/args.h"
#include "create/wrapper/tool.h"

/* What is kept of one link. Zero-initialise. */
struct lto {
	char *folder; /* of the copies; NULL: none are kept */
	char *search; /* the option by which gcc finds the stand-in, or LLVM the folder; NULL */
	char *map;    /* the one by which the copy of the tree has the tree's name; NULL */
};

/* The name by which the wrapper is the stand-in. */
#define LTO_WRAPPER "lto-wrapper"

/*
 * Before a link by the compiler: makes the folder, and adds the options by which code is kept and
 * comes in sections of its own. They are lto's. Without link-time optimisation they change nothing.
 */
int lto_begin(const struct tool *tool, const struct args *args, struct lto *lto, tool_argv *argv,
	      struct uspl_err *err) uspl_must_check;
/*
 * After it: joins what was kept and notes it as made for the output. *ret_name is the name by which
 * the link's record has it, NULL if there was no such optimisation; the caller frees it. Lines of
 * `rest`, what the linker has printed, that name the objects are taken out.
 */
int lto_end(const struct tool *tool, const struct lto *lto, const char *output, const char *command,
	    struct buf *rest, char **ret_name, struct uspl_err *err) uspl_must_check;
/* An option by which LLVM's linkers take code from a cache, where nothing is kept of it? */
bool lto_is_cache(const char *word);
/* Is a file one of the objects, under the name by which the linker has it (record_path)? */
bool lto_has(const struct lto *lto, const char *path);
void lto_release(struct lto *lto);
DEFINE_AUTO_RELEASE(lto, struct lto, lto_release)
#define auto_lto __attribute__((cleanup(cleanup_lto_)))

/* The stand-in: runs lto-wrapper itself, and keeps copies of the objects that it names. */
int lto_step(int argc, char **argv, int *ret_status, struct uspl_err *err) uspl_must_check;

#endif
