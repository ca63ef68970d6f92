/* SPDX-License-Identifier: MIT */
/*
 * sums_abi.h - what tracers that add up calls share with the tools in the target's memory
 *
 * Each thread that makes traced calls has a table with a cell for each function, by its id (0 is
 * unused). The tables lie behind each other in what the listener config has as the job's own. A
 * thread writes its own table only, each word by one instruction; the tool reads at any time.
 *
 *     count     a cell is a number of calls
 *     profile   a cell is a struct uspl_sums_cell
 *     coverage  no tables: a byte for each function, at the end of its module's part of the session
 *
 * Open calls of profile. The time of a call that is open is in its slot of the shadow, as graph has
 * it (trace_abi.h). A call is also a word: where its return address lies, and the function's id. So
 * the open calls of a thread are a list: `top` in struct uspl_trace_thread is the innermost one,
 * and in the word beside each slot (USPL_TRACE_NAME) is the call around it. Along the list the
 * addresses grow. A call at an address that isn't below the top's shows that the top was left, or
 * lies on a stack that isn't in use now. Then it is taken off the list, counted as one that was
 * left, and marked; if it does return later, that is put right.
 */
#ifndef USPL_SUMS_ABI_H
#define USPL_SUMS_ABI_H

#include "uspl/listen_abi.h"

#define USPL_SUMS_ID_BITS 20
#define USPL_SUMS_IDS_MAX ((1 << USPL_SUMS_ID_BITS) - 1)
/* An address of 47 bits, a multiple of 8, goes above the id when it is moved so far. */
#define USPL_SUMS_AT_SHIFT 17
/* The end of the list: above every address; and no function, so its cell means nothing. */
#define USPL_SUMS_NONE (-0x100000) /* sign-extended: all bits above the id */

/* Or'ed to the time in the slot of a call that was taken off the list. */
#define USPL_SUMS_PASSED_BIT 63
/* The word beside its slot has how long it took until then, in units of as many ticks. */
#define USPL_SUMS_UNIT_SHIFT 4

/*
 * The histogram: calls that took less than 16 ns, then less than 32, and so on; the last one has no
 * upper bound.
 */
#define USPL_SUMS_BUCKETS 32
#define USPL_SUMS_FIRST_LOG 4
/* sums_ns of the control page is the nanoseconds of a tick, by two to the power of this. */
#define USPL_SUMS_NS_SHIFT 30

#define SC_SUM 0
#define SC_NESTED 8
#define SC_CHILDREN 16
#define SC_MAX 24
#define SC_OPEN 32
#define SC_LAST 56
#define SC_BUCKETS 64
#define SC_SIZE 320

#ifndef __ASSEMBLER__

/* What a thread knows of one function. Times are in ticks of the time stamp counter. */
struct uspl_sums_cell {
	uint64_t sum;      /* of all calls that are over */
	uint64_t nested;   /* of these, those within another one of the same function */
	uint64_t children; /* of the calls that its calls have made */
	uint64_t max;
	uint64_t open;    /* calls on the thread's list */
	uint64_t left;    /* of all, those that haven't returned: longjmp, an exception */
	uint64_t untimed; /* of these, how long they took isn't known; they are in no bucket */
	uint64_t last;    /* trace.S's own: the logarithm that it had last */
	uint64_t buckets[USPL_SUMS_BUCKETS]; /* how many calls took how long */
};

/* The parts of a call's word. */
static inline uint32_t uspl_sums_id(uint64_t call)
{
	return call & USPL_SUMS_IDS_MAX;
}

static inline uint64_t uspl_sums_at(uint64_t call)
{
	return call >> USPL_SUMS_ID_BITS << (USPL_SUMS_ID_BITS - USPL_SUMS_AT_SHIFT);
}

static inline int uspl_sums_is_none(uint64_t call)
{
	return call == (uint64_t)(int64_t)USPL_SUMS_NONE;
}

_Static_assert(offsetof(struct uspl_sums_cell, sum) == SC_SUM, "trace.S knows this");
_Static_assert(offsetof(struct uspl_sums_cell, nested) == SC_NESTED, "trace.S knows this");
_Static_assert(offsetof(struct uspl_sums_cell, children) == SC_CHILDREN, "trace.S knows this");
_Static_assert(offsetof(struct uspl_sums_cell, max) == SC_MAX, "trace.S knows this");
_Static_assert(offsetof(struct uspl_sums_cell, open) == SC_OPEN, "trace.S knows this");
_Static_assert(offsetof(struct uspl_sums_cell, last) == SC_LAST, "trace.S knows this");
_Static_assert(offsetof(struct uspl_sums_cell, buckets) == SC_BUCKETS, "trace.S knows this");
_Static_assert(sizeof(struct uspl_sums_cell) == SC_SIZE, "trace.S knows this");

#endif
#endif
