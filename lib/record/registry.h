/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * registry.h - the records that uspl has in a process: all kinds, found and checked in one way
 *
 * A record lies at the beginning of a mapping of its own, which the program itself can't write to
 * (include/uspl). It is the target's word all the same, and treated as hostile: what a head says of
 * places and lengths is checked here, what lies behind it is checked by the code that reads it.
 *
 * The maps are looked through once: the first words of all mappings in question are kept as long as
 * the process is locked, and so is what is read of records (proc/kept.h).
 */
#ifndef USPL_RECORD_REGISTRY_H
#define USPL_RECORD_REGISTRY_H

#include "record/heads.h"
#include "uspl/abi.h"
#include "uspl/mark_abi.h"

enum record_kind {
	RECORD_UPDATE,
	RECORD_TRACE,   /* what is traced in one module */
	RECORD_PROBES,  /* the probes of one session in one module */
	RECORD_SHARED,  /* a mark: memory of a session of the tracer's that several modules share */
	RECORD_PARTIAL, /* a mark: memory that a tool has mapped, and doesn't use yet */
};

struct record {
	const struct mapping *map; /* the record is at its beginning, and has at most its length */
	union {
		uint64_t magic;
		struct uspl_region update;
		struct uspl_trace_region trace;
		struct uspl_mark_region probes;
		struct uspl_trace_shared_map shared;
		struct uspl_partial partial;
	} head;
};

struct registry {
	const struct proc *proc;
	enum record_kind kind;
	struct heads heads;
};

/* Begins a reading of all records of a kind. proc->maps must be current. */
void registry_begin(struct registry *registry, const struct proc *proc, enum record_kind kind);
/*
 * Reads the next one: 1; 0 if there is no other. USPL_E_FORMAT: it has another version.
 * USPL_E_HOSTILE: it contradicts itself, or the process's budget is spent (proc_charge). What only
 * looks like a mark is passed over.
 */
int registry_next(struct registry *registry, struct record *ret,
		  struct uspl_err *err) uspl_must_check;

/* Reads a part of the record; it must lie in the mapping. */
int registry_read(const struct proc *proc, const struct record *record, uint64_t offset, void *buf,
		  size_t len, struct uspl_err *err) uspl_must_check;
/* Fails with USPL_E_HOSTILE: the record is damaged. */
int registry_fail_damaged(const struct proc *proc, enum record_kind kind, taddr at,
			  struct uspl_err *err);

/* More than any update needs; keeps a lying header from making the tool read gigabytes. */
#define REGION_INFO_MAX (64u << 20)

#endif
