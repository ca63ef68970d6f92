/* SPDX-License-Identifier: MIT */
/*
 * constructor_abi.h - what the code that times constructors and the tools share in the target's
 * memory
 *
 *     code      a copy of runtime/constructors.S: what all thunks call, then the thunks
 *     table     at USPL_CONSTRUCTOR_TABLE from the code's beginning: a struct uspl_constructor for
 *               each thunk
 */
#ifndef USPL_CONSTRUCTOR_ABI_H
#define USPL_CONSTRUCTOR_ABI_H

#define USPL_CONSTRUCTORS 4096     /* at most */
#define USPL_CONSTRUCTOR_THUNK 16  /* bytes of code for one */
#define USPL_CONSTRUCTOR_THUNKS 96 /* where the first one is */
#define USPL_CONSTRUCTOR_ENTRY 32  /* bytes in the table for one */
#define USPL_CONSTRUCTOR_TABLE 0x11000
#define USPL_CONSTRUCTOR_LEN (USPL_CONSTRUCTOR_TABLE + USPL_CONSTRUCTORS * USPL_CONSTRUCTOR_ENTRY)

/* Offsets, for the runtime; checked against the structure below. */
#define CE_FUNCTION 0
#define CE_START 8
#define CE_END 16

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

struct uspl_constructor {
	uint64_t function;   /* what the thunk calls */
	uint64_t start, end; /* in ticks; 0 if it hasn't been called, or hasn't returned */
	uint64_t reserved;
};

_Static_assert(sizeof(struct uspl_constructor) == USPL_CONSTRUCTOR_ENTRY &&
		       offsetof(struct uspl_constructor, function) == CE_FUNCTION &&
		       offsetof(struct uspl_constructor, start) == CE_START &&
		       offsetof(struct uspl_constructor, end) == CE_END,
	       "the runtime knows these offsets");
_Static_assert(USPL_CONSTRUCTOR_THUNKS + USPL_CONSTRUCTORS * USPL_CONSTRUCTOR_THUNK <=
		       USPL_CONSTRUCTOR_TABLE,
	       "the table lies behind the code");

#endif
#endif
