/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heads.h - the mappings that may hold a record of ours, by the eight bytes that records begin with
 *
 *     struct heads heads = { .proc = proc, .magic = USPL_REGION_MAGIC };
 *
 *     while ((map = heads_next(&heads)))
 *             read it, and look whether it is one
 *
 * A process has some twenty mappings of the kind, and a command looks for five sorts of records,
 * some of them several times. The first bytes of up to 64 mappings are read at once; they are kept
 * for a process that is locked (kept.h).
 */
#ifndef USPL_RECORD_HEADS_H
#define USPL_RECORD_HEADS_H

#include "proc/kept.h"
#include "proc/proc.h"

struct heads {
	const struct proc *proc;
	uint64_t magic; /* in the first eight bytes */
	/* heads_next's: what has been read of the mappings before `next` of proc->maps. */
	size_t next, at, n;
	struct kept_head some[PROC_PIECES_MAX];
	bool began, kept;
};

/*
 * The next mapping of proc->maps that may hold such a record (mapping_may_hold_record), and begins
 * with these bytes, or may: a mapping that can't be read is returned, unless nothing was written
 * there. NULL if there is no other, or the process's budget is spent (proc_charge): the next charge
 * says so. proc->maps must not change meanwhile, nor a record be written.
 */
const struct mapping *heads_next(struct heads *heads);

#endif
