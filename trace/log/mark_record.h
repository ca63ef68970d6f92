/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mark_record.h - what probes of markers have written into a session's rings
 *
 * Read while threads go on writing, as ring.h says. Reading doesn't take anything out: each
 * reader begins with the oldest records that there are.
 */
#ifndef USPL_TRACE_LOG_MARK_RECORD_H
#define USPL_TRACE_LOG_MARK_RECORD_H

#include "trace/probe/marks.h"
#include "trace/probe/message.h"

/* A slot of a ring. */
union mark_slot {
	struct uspl_trace_entry first; /* `caller` is an argument's place */
	uint8_t bytes[USPL_TRACE_RECORD];
};

/* A hit of a marker. */
struct mark_record {
	uint64_t time; /* ticks */
	pid_t tid;     /* 0: not known */
	uint32_t at;   /* its first slot among those that were read */
	const struct uspl_probe *probe;
	const struct mark_region *region;
};

struct mark_ring {
	taddr addr;
	uint64_t pos;   /* slots: everything before was read, or is counted as lost */
	pid_t tid;      /* the thread whose records begin there */
	uint64_t taken; /* records that were read or lost */
};

/* A reader of a session's rings. proc must outlive it. */
struct mark_reader {
	struct proc *proc;
	struct marks marks;
	char session[USPL_MARK_SESSION_MAX];
	struct uspl_trace_region shared; /* where the session's rings are */
	/*
	 * A record is of a probe that isn't known: a newer command's. `marks` is to be read again.
	 */
	bool outdated;
	VEC(struct mark_ring) rings;
	/* Of the last reading, by time. */
	VEC(struct mark_record) records;
	VEC(union mark_slot) slots;
	uint64_t overwritten; /* records, before they were read */
	uint64_t nowhere;     /* hits that could not be recorded */
	struct uspl_mark_cuts cuts;
};

/* USPL_E_NOT_APPLIED if there is no such session. */
int mark_reader_open(struct mark_reader *reader, struct proc *proc, const char *session,
		     struct uspl_err *err) uspl_must_check;
void mark_reader_release(struct mark_reader *reader);
/* Reads what is new since the last time. Records of the last reading are gone then. */
int mark_reader_read(struct mark_reader *reader, struct uspl_err *err) uspl_must_check;
/*
 * A record's arguments, probe->n_args of them. Their texts are to be freed by mark_values_release,
 * which must follow in any case.
 */
int mark_values(const struct mark_reader *reader, const struct mark_record *record,
		struct message_value ret[USPL_PROBE_ARGS_MAX],
		struct uspl_err *err) uspl_must_check;
void mark_values_release(struct message_value values[USPL_PROBE_ARGS_MAX]);
/* Says what a user's program has run into, if it has, as a clause; false if it hasn't. */
bool mark_cuts_add(const struct uspl_mark_cuts *cuts, struct buf *out);

#endif
