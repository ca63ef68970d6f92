/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record.h - what the target's threads have written into their rings
 *
 * A ring is read while its thread goes on writing. What was overwritten before or while it was read
 * is left out and counted; a record that is being written at this moment ends the reading, and is
 * the first one of the next.
 */
#ifndef USPL_TRACING_RECORD_H
#define USPL_TRACING_RECORD_H

#include "proc/proc.h"
#include "uspl/trace_abi.h"

/* A call, or its entry only. */
struct trace_record {
	uint64_t start,
		end;     /* ticks of the time stamp counter; end is 0 if only the entry is known */
	uint32_t id;     /* of the site */
	uint32_t caller; /* the low half of the return address; entries only */
	pid_t tid;       /* 0: not known */
	int32_t cpu;     /* that the call began on; -1: not known */
};

typedef VEC(struct trace_record) trace_records;

/* A ring in the target, and how far it was read. */
struct trace_ring {
	taddr addr;
	uint64_t mask;        /* bytes of records - 1 */
	bool entries;         /* its records are entries (struct uspl_trace_entry) */
	uint64_t pos;         /* everything before was read, or is counted as overwritten */
	pid_t tid;            /* whose records begin at pos; 0: not known yet */
	uint64_t overwritten; /* records */
	uint64_t unseen;      /* calls that the thread could not record */
};

/*
 * Appends what is new in the ring to records, oldest first, and moves pos behind it.
 */
int trace_ring_read(const struct proc *proc, struct trace_ring *ring, trace_records *records,
		    struct uspl_err *err) uspl_must_check;

#endif
