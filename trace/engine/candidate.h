/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * candidate.h - the functions of a module, and how each can be traced
 *
 * Functions are found by symbols or, in a stripped program, by its call frame information. What is
 * at a function's entry decides what becomes of it:
 *
 *     CANDIDATE_NOPS   room that the compiler left (-fpatchable-function-entry, -mnop-mcount
 *                      -mfentry), perhaps behind an endbr64: the body begins behind it
 *     CANDIDATE_MOVED  the first instructions, which are moved out of line and make room for the
 *                      jump
 *     CANDIDATE_NONE   neither is possible; `why` says what is in the way
 */
#ifndef USPL_TRACE_ENGINE_CANDIDATE_H
#define USPL_TRACE_ENGINE_CANDIDATE_H

#include "base/error.h"
#include "image/image.h"
#include "proc/proc.h"

enum candidate_kind { CANDIDATE_NONE, CANDIDATE_NOPS, CANDIDATE_MOVED };

/* Enough for all instructions that begin in the bytes of a jump. */
#define CANDIDATE_CODE 32

/* A large library has a hundred thousand: they are kept small. */
struct candidate {
	const char *name; /* the image's; NULL: not known */
	taddr entry;      /* the function */
	uint64_t size;    /* of its code, up to the next function if nothing else is known */
	taddr patched;    /* where the jump of an update or a probe at the entry leads; 0: none */
	const char *why;  /* CANDIDATE_NONE: a text that is never freed */
	/* What the program itself has at the entry; zeros behind its end. */
	uint8_t code[CANDIDATE_CODE];
	uint32_t listen; /* where it is in a plan (listen_plan.h), + 1; 0: it isn't listened to */
	uint8_t kind;    /* enum candidate_kind */
	uint8_t len;     /* bytes from the entry to where the body goes on */
	uint8_t moved;   /* CANDIDATE_MOVED: the bytes that these become elsewhere */
	/* No thread may stand in this many bytes, but at the first; 1: they are one instruction. */
	uint8_t guard;
	bool entry_only; /* its return can't be traced: it returns twice, or looks at its caller */
};

typedef VEC(struct candidate) candidate_vec;

/* All functions of the image, by address; those of equal address once. */
int candidates_find(const struct image *image, candidate_vec *ret,
		    struct uspl_err *err) uspl_must_check;

/*
 * Takes those out whose first bytes are part of the jump that an update has written over the short
 * function before it (switch/entries.h): they become CANDIDATE_NONE.
 */
int candidates_spare(const struct proc *proc, candidate_vec *candidates,
		     struct uspl_err *err) uspl_must_check;

#endif
