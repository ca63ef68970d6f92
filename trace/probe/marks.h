/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * marks.h - markers that are on in a process: what the target holds of them, and switching them
 *
 *     marks_on     loads probes for markers, and leads their sites to them
 *     marks_read   finds what there is, of all sessions (record/probe_records.h)
 *     marks_off    takes probes out, by their names; or all, and the session's memory with them
 *
 * A session has a name, rings of its own, and at most one probe at a site. Several sessions at one
 * marker know nothing of each other: their probes form a chain (include/uspl/mark_abi.h). They come
 * and go in any order, whether functions are traced or not.
 */
#ifndef USPL_TRACE_PROBE_MARKS_H
#define USPL_TRACE_PROBE_MARKS_H

#include "record/probe_records.h"
#include "trace/probe/marker.h"

/* A user's program (uspl/probe.h), ready to be linked. */
struct mark_program {
	size_t text_len, data_len;
	size_t entry; /* of uspl_probe, in the text */
	/* Writes both as they are at these addresses: text_len and data_len bytes. */
	int (*link)(const struct mark_program *program, taddr text, taddr data, uint8_t *ret_text,
		    uint8_t *ret_data, struct uspl_err *err);
};

/* Which markers, and how. */
struct marks_request {
	const char *session;
	const char *glob;   /* of names; NULL: all */
	bool functions;     /* it is of functions, whose entries are taken for markers, */
	bool returns;       /* or else their returns */
	const char *module; /* of modules' file names; NULL: all */
	const char *filter; /* NULL: none */
	const struct mark_program *program; /* called at each hit; NULL: there is none */
	uint16_t text_slots;                /* of a record, for each string */
	uint64_t ring_bytes; /* of records, for each thread; a power of two, 4096 or more */
	bool force; /* off: a stack that no thread is on doesn't keep the session's memory */
};

struct marks_switched {
	size_t probes;     /* that were switched */
	size_t already;    /* sites that were as they were to be */
	size_t impossible; /* sites that no probe can be put to, */
	char why[256];     /* and why that isn't possible at the first of them */
	double stop_us;    /* how long the threads stood still; 0: they didn't */
	/*
	 * Threads that are still inside of probes that were taken out, and 1 if a stack is that no
	 * thread is on: the session's memory stays for them.
	 */
	size_t inside;
	bool inactive;     /* `inside` is that stack only */
	size_t put_back;   /* calls on such stacks that were made to return without their probe */
	uint64_t left_out; /* bytes of memory in which no such stack was looked for */
	struct uspl_mark_cuts cuts; /* off: what the session's program has run into */
};

/*
 * USPL_E_NO_MODULE: there is no such marker. USPL_E_UNSUPPORTED: none of them can be switched on.
 * USPL_E_USAGE: the filter doesn't fit.
 */
int marks_on(struct proc *proc, const module_vec *modules, const struct marks_request *request,
	     struct marks_switched *ret, struct uspl_err *err) uspl_must_check;
/*
 * Without a glob the session ends: its records go with its memory. Else they stay until then, even
 * if no probe is on any more. USPL_E_NOT_APPLIED if the session has none of them, or there is no
 * session.
 */
int marks_off(struct proc *proc, const module_vec *modules, const struct marks_request *request,
	      struct marks_switched *ret, struct uspl_err *err) uspl_must_check;
/* All markers of a module, as they are without any tool's jumps. */
int marks_find(const struct proc *proc, const struct module *module, struct markers *ret,
	       struct uspl_err *err) uspl_must_check;

#endif
