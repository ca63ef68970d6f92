/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ring.h - what the target's threads have written into their rings
 *
 * A ring is read while its thread goes on writing. What was overwritten before or while it was read
 * is left out and counted; a record that is being written at this moment ends the reading, and is
 * the first one of the next. If there is no next one, it is left out and counted, too.
 */
#ifndef USPL_TRACE_LOG_RING_H
#define USPL_TRACE_LOG_RING_H

#include "base/buf.h"
#include "proc/proc.h"
#include "uspl/trace_abi.h"

/* How a call has ended. */
enum trace_end {
	TRACE_RETURNED, /* or only its entry is known */
	TRACE_LEFT,     /* by a longjmp, an exception, or its thread's end; before the time given */
	TRACE_OPEN,     /* not yet; what is given is the time when it was read */
};

/* A call, or its entry only. */
struct trace_record {
	uint64_t start,
		end;     /* ticks of the time stamp counter; end is 0 if only the entry is known */
	uint32_t id;     /* of the site */
	uint32_t caller; /* the low half of the return address; entries only */
	pid_t tid;       /* 0: not known */
	int32_t cpu;     /* that the call began on; -1: not known */
	uint32_t args, result; /* where their values are (values.h); 0: none are known */
	enum trace_end how;
	/*
	 * Calls that it has made may have been overwritten: it began before the oldest record that
	 * is left was written.
	 */
	bool cut;
};

/* Or'ed to its place: the id of what isn't a call but the kernel's (kernel_event.h). */
#define TRACE_KERNEL (1u << 31)

typedef VEC(struct trace_record) trace_records;

/* Values that a listener has recorded of a call. */
struct trace_value_record {
	uint64_t start; /* of the call */
	uint32_t id;    /* of the function */
	pid_t tid;
	uint32_t at, len; /* of their bytes */
	bool result;      /* of its return, not of its arguments */
	bool taken;       /* the call is known */
};

struct trace_values {
	VEC(struct trace_value_record) records;
	struct buf bytes;
	struct buf texts; /* values.h */
};

/* A ring in the target, and how far it was read. */
struct trace_ring {
	taddr addr;
	uint64_t mask;               /* bytes of records - 1 */
	bool entries;                /* its records are entries (struct uspl_trace_entry) */
	uint64_t pos;                /* everything before was read, or is counted as overwritten */
	pid_t tid;                   /* the thread whose records begin at pos; 0: not known yet */
	pid_t tid_before;            /* the thread that had the ring before; 0: none, or unknown */
	uint64_t taken_over;         /* when it became another thread's; 0: it never did */
	uint64_t oldest;             /* when the first record behind a gap was written; 0: no gap */
	uint64_t overwritten;        /* records */
	uint64_t unseen;             /* calls that the thread could not record */
	bool last;                   /* it isn't read again */
	uint64_t unsure;             /* records that may not have been written, if it is the last */
	struct trace_values *values; /* where its values go; NULL: nowhere */
};

/*
 * Appends what is new in the ring to records, oldest first, and moves pos behind it.
 */
int ring_read(const struct proc *proc, struct trace_ring *ring, trace_records *records,
	      struct uspl_err *err) uspl_must_check;

/* Slots [first, end), in slots ever taken, of a ring whose records take mask + 1 bytes. */
struct ring_part {
	taddr ring;
	uint64_t mask, first, end;
};

/* Copies them out of the ring, which may wrap around: USPL_TRACE_RECORD bytes each. */
int ring_copy(const struct proc *proc, const struct ring_part *part, void *ret,
	      struct uspl_err *err) uspl_must_check;

#endif
