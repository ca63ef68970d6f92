/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * args.h - what a compiler was asked to do
 *
 * Understands as much of the command line of gcc and clang as is needed to tell sources, objects,
 * the output and options of the linker apart; everything else is an option that is passed on as it
 * is.
 */
#ifndef USPL_CREATE_WRAPPER_ARGS_H
#define USPL_CREATE_WRAPPER_ARGS_H

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

/* Where the compiler stops. */
enum args_mode {
	ARGS_NOTHING,    /* nothing to build: --version, -print-..., no input at all */
	ARGS_PREPROCESS, /* -E, -M, -MM, -fsyntax-only: no code is made */
	ARGS_ASSEMBLY,   /* -S */
	ARGS_COMPILE,    /* -c */
	ARGS_LINK,
};

/* What a word of the command line is for. */
enum args_kind {
	ARGS_OPTION,   /* for every stage */
	ARGS_LINKING,  /* for the linker alone: -lfoo, -Wl,... */
	ARGS_OUTPUT,   /* -o and its file */
	ARGS_LANGUAGE, /* -x and its language */
	ARGS_STAGE,    /* -c, -S */
	ARGS_SOURCE,   /* a file that is compiled */
	ARGS_ASM,      /* a file that is assembled, after the preprocessor or without */
	ARGS_HEADER,   /* a header that is precompiled */
	ARGS_OBJECT,   /* anything else without a dash: the linker's */
};

struct args_word {
	char *text;
	enum args_kind kind;
	/* Of a source, from the -x before it; NULL: by its name. Points to another word. */
	const char *language;
};

struct args {
	VEC(struct args_word)
	words; /* without the program's name; response files (@file) are expanded */
	enum args_mode mode;
	const char *output; /* of -o, NULL if none. Points into words */
	size_t n_sources;   /* words that are ARGS_SOURCE or ARGS_ASM */
	bool own_deps;      /* the build has lists of dependencies written itself (-MD, -MMD) */
	const char *deps;   /* where to; NULL: by the object's name. Points into words */
};

/*
 * Parses argv[1...]. Every occurrence of the folder `from` at the start of a path becomes `to`
 * (both absolute; may be NULL): so a build that names the user's tree by its absolute path stays in
 * the copy. Damaged response files are passed on as they stand, for the compiler to complain about.
 */
int args_parse(int argc, char **argv, const char *from, const char *to, struct args *ret,
	       struct uspl_err *err) uspl_must_check;
void args_release(struct args *args);
DEFINE_AUTO_RELEASE(args, struct args, args_release)
#define auto_args __attribute__((cleanup(cleanup_args_)))

/*
 * True for an option by which an object's types are described elsewhere, packed, in a form of their
 * own, or not at all. They change no code, so the saved objects do without them: `-g` at the end
 * asks for the rest, whatever -g0 or -g1 said before. What they would make for the build (a .dwo
 * file) isn't made.
 */
bool args_hides_types(const struct args_word *word);

/*
 * True for the small programs by which configure, CMake and Meson try the compiler out, and for
 * code from standard input: nothing of it ends in a program. cwd is the folder that the compiler
 * runs in.
 */
bool args_is_probe(const struct args *args, const char *cwd);

/* The same for a file's name alone. */
bool args_is_probe_path(const char *path);

/*
 * The object of a source if none is named: its last component with .o for the suffix. NULL when out
 * of memory.
 */
char *args_default_object(const char *source);

#endif
