/* SPDX-License-Identifier: GPL-3.0-or-later */
/* smaps.h - how much of each mapping of a process is resident */
#ifndef USPL_TRACE_TALLY_SMAPS_H
#define USPL_TRACE_TALLY_SMAPS_H

#include "proc/proc.h"

struct smap {
	taddr start, end;
	uint64_t resident; /* bytes */
	bool seen;         /* the caller's */
};

struct smaps {
	VEC(struct smap) items; /* sorted by address */
};

/* Reads /proc/PID/smaps. */
int smaps_read(const struct proc *proc, struct smaps *ret, struct uspl_err *err) uspl_must_check;
void smaps_release(struct smaps *smaps);
/* The mapping that addr lies in, or NULL. */
struct smap *smaps_at(const struct smaps *smaps, taddr addr);

#endif
