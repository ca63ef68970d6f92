/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tool.h - the real compiler or linker behind the wrapper's name
 */
#ifndef USPL_CREATE_WRAPPER_TOOL_H
#define USPL_CREATE_WRAPPER_TOOL_H

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "create/wrapper/args.h"

/* An argument list in the making. The words are the caller's. */
typedef VEC(const char *) tool_argv;
DEFINE_AUTO_RELEASE(argv, tool_argv, vec_release)
#define auto_argv __attribute__((cleanup(cleanup_argv_)))

/* What uspl-create tells the wrapper by the environment, and what follows from it. */
struct tool {
	const char *work;   /* USPL_CC_WORK: the work folder; its bin/ holds the wrapper's names */
	const char *phase;  /* USPL_CC_PHASE: "pre" or "post" */
	const char *tree;   /* USPL_CC_TREE: the copy that is built */
	const char *source; /* USPL_CC_SOURCE: the user's tree */
	const char *name;   /* what we were called as: "gcc-12", "ccache" */
	char *path;         /* of the real tool */
	char *include;      /* an option: work/include has the headers of patches */
	/* The compiler's name, which is another one if we were called as a launcher. */
	const char *compiler;
	tool_argv before; /* a launcher's words up to the compiler, which is the last one */
	tool_argv words;  /* all words of the command line, our own folder's names replaced */
};

/* Appends words up to a NULL. */
int tool_add(tool_argv *argv, const char *const *words, struct uspl_err *err) uspl_must_check;

/*
 * Reads the environment and finds the real tool: work/real/NAME if it is there, else the first NAME
 * in PATH outside of work/bin. Takes work/bin out of PATH, so that nothing the tool starts comes
 * back to us. *ret_skip: how many of the arguments name the compiler that a launcher is to run; if
 * it is to run none that we know, ret->compiler is NULL.
 */
int tool_find(int argc, char **argv, struct tool *ret, int *ret_skip,
	      struct uspl_err *err) uspl_must_check;
void tool_release(struct tool *tool);
DEFINE_AUTO_RELEASE(tool, struct tool, tool_release)
#define auto_tool __attribute__((cleanup(cleanup_tool_)))

/* True if the compiler, behind all launchers, is clang. */
bool tool_is_clang(const struct tool *tool);

/*
 * The compiler and its options, less those that name outputs: what two builds of one thing must
 * have in common. NULL when out of memory.
 */
char *tool_command(const struct tool *tool, const struct args *args);

/*
 * The option by which the copy has the name of the user's tree to the compiler; a package's copy
 * has the one that its build gives to the folder in which it believes to run (recipe.c). *ret stays
 * NULL if the build maps the copy itself; the caller frees it.
 */
int tool_prefix_map(const struct tool *tool, const struct args *args, char **ret,
		    struct uspl_err *err) uspl_must_check;

/* Becomes the real tool with the arguments as they came. Returns only on failure. */
int tool_exec(const struct tool *tool, struct uspl_err *err);

/*
 * Runs the real tool with argv (what follows the compiler's name) and waits. *ret_status is its
 * exit status, 128 + N if signal N ended it. With out, its standard output is collected there.
 */
int tool_run(const struct tool *tool, const tool_argv *argv, struct buf *out, int *ret_status,
	     struct uspl_err *err) uspl_must_check;

#endif
