/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resident.h - the memory that a process has written and keeps for itself
 *
 * Reading memory that the program has reserved and never touched would make the kernel map it, and
 * there may be terabytes of it, as in programs that sanitizers check. /proc/PID/pagemap tells what
 * is there; where the kernel can't look for it (before Linux 6.7), an entry for each page has to be
 * read.
 */
#ifndef USPL_PROC_RESIDENT_H
#define USPL_PROC_RESIDENT_H

#include "proc/proc.h"

/* A walk over it. Zero-initialise all but the first three and by_entries. */
struct resident {
	const struct proc *proc;
	const mapping_vec *maps; /* as of the moment; kept by the caller */
	uint64_t budget;         /* bytes that may be read */
	uint64_t left_out;       /* bytes that were not looked at for that reason */
	/* The piece that resident_next has found. */
	const struct mapping *mapping;
	taddr at;
	size_t n; /* words */
	uint64_t *words;
	bool by_entries; /* the kernel can't look for pages itself; a test may say so */
	/* The walk's own. */
	size_t next_mapping;
	taddr next;
	int pagemap;
};

/* Begins a walk. To be closed with resident_close, in any case. */
int resident_open(struct resident *walk, struct uspl_err *err) uspl_must_check;
/*
 * The next piece of private, writable memory with something in it; false at the end. A page that
 * can't be read is passed over.
 */
bool resident_next(struct resident *walk);
void resident_close(struct resident *walk);

DEFINE_AUTO_RELEASE(resident, struct resident, resident_close)
#define auto_resident __attribute__((cleanup(cleanup_resident_)))

#endif
