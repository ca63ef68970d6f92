/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * match.h - run-pre matching: is the running code the code that the update was made from?
 *
 * The pre code (a normalised relocatable object, see update.h) is compared with the image,
 * instruction by instruction. Everything must be equal except at relocations; there the running
 * bytes tell the value that the symbol has in this process, S = value - addend (+ place, if
 * pc-relative). Each function that matches so yields values for the symbols it refers to; all
 * references to one symbol must agree. Nothing is guessed: no candidate, or several that can't be
 * told apart, is a refusal.
 */
#ifndef USPL_MATCH_MATCH_H
#define USPL_MATCH_MATCH_H

#include "base/cleanup.h"
#include "base/error.h"
#include "image/image.h"
#include "objfile/objfile.h"

struct match;

/* How many seconds of CPU the match of one image may take. */
#define MATCH_CPU_S 8

/* Where a func of pre code (a function, or its .cold part) was found. */
struct match_func {
	const struct objsec *sec; /* in the pre object */
	const char *name;         /* its refname */
	taddr addr;
	size_t len; /* in the running code, which may differ by padding and jump widths */
};

/*
 * Matches every function of pre against the image. A function that doesn't match is no failure by
 * itself (it only yields no values): match_require says which ones must. Fails only with
 * USPL_E_NOMEM, on a pre object that is malformed, or, for a process, if it takes more than
 * MATCH_CPU_S of CPU (USPL_E_UNSUPPORTED; real updates take a hundredth of that). Image and pre
 * must outlive the match; the `mark`s of pre's sections and symbols are their positions from here
 * on.
 */
int match_run(const struct image *image, const struct objfile *pre, struct match **ret,
	      struct uspl_err *err) uspl_must_check;
/* Where a function is known to be, by its refname. */
struct match_hint {
	const char *refname;
	taddr addr;
};

/*
 * The same with n functions whose places are known from elsewhere, such as an earlier match of the
 * same build. They are compared like others, but at no other place; functions that pre doesn't have
 * are ignored.
 */
int match_run_hinted(const struct image *image, const struct objfile *pre,
		     const struct match_hint *hints, size_t n, struct match **ret,
		     struct uspl_err *err) uspl_must_check;
void match_free(struct match *match);
DEFINE_AUTO_FREE(match, struct match, match_free)
#define auto_match __attribute__((cleanup(cleanup_match_)))

/*
 * The place of a function that must have matched; fails with USPL_E_NO_MATCH and a message that
 * says why it didn't: not found, ambiguous, or the first difference with both instructions as
 * objdump would print them. USPL_E_UNSUPPORTED: it shares its code with another function of the
 * program.
 */
int match_require(const struct match *match, const char *refname, const struct match_func **ret,
		  struct uspl_err *err) uspl_must_check;

/* How much of the pre code is in the image. */
struct match_tally {
	size_t funcs, matched; /* functions and parts of functions */
	uint64_t bytes;        /* of those that matched, in the running code */
};

/* Counts what was matched. */
void match_count(const struct match *match, struct match_tally *ret);

/* What became of one func of pre code, for reports. */
struct match_finding {
	const char *name;              /* its refname */
	const struct match_func *func; /* where it was found; NULL: it wasn't */
	size_t alike;    /* how many other places hold the same code, but for what it refers to */
	const char *why; /* why it wasn't found; else NULL */
};

/* Calls visit for every func of the pre code, in the order of its sections. */
void match_findings(const struct match *match,
		    void (*visit)(const struct match_finding *finding, void *ctx), void *ctx);

/*
 * All matched funcs that belong to the function (itself and its .cold part): calls visit for each.
 */
void match_funcs_of(const struct match *match, const char *refname,
		    void (*visit)(const struct match_func *func, void *ctx), void *ctx);

/*
 * The value inferred for a symbol by its refname: an address, or for a thread-local symbol its
 * offset from the thread pointer. Returns false if no matched code refers to it.
 */
bool match_value(const struct match *match, const char *refname, taddr *ret_value);

/* The image's symbols of that name: *ret_n of them, from the returned one on. */
const struct image_sym *const *match_run_symbols(const struct match *match, const char *name,
						 size_t *ret_n);

/* True if matched code refers to the symbol, other than by being its definition. */
bool match_refers(const struct match *match, const char *refname);

/*
 * Where calls to a function lead in the running program, if that is a stub of its procedure linkage
 * table. Good for calls; its address is not that of the function, which match_value knows if any
 * code took it. Returns false if there are no such calls.
 */
bool match_call(const struct match *match, const char *refname, taddr *ret_value);

#endif
