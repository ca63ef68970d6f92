/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * partial_mapping.h - memory that a tool has mapped in a process, and doesn't use yet
 *
 * A region has a record only when all of it is in its place. Until then its first page says that it
 * is unfinished (struct uspl_partial), so that nothing stays behind unknown where a tool dies.
 */
#ifndef USPL_RECORD_PARTIAL_MAPPING_H
#define USPL_RECORD_PARTIAL_MAPPING_H

#include "inject/inject.h"
#include "uspl/abi.h"

#define PARTIAL_MAPPING_REQS 7

/*
 * The first requests for a region, PARTIAL_MAPPING_REQS of them: map [map, map + map_len), rw-, if
 * it is free (else the first one's result is -EEXIST), mark the page self of info_len bytes in it
 * by `magic`, and make that r--: as unfinished (USPL_PARTIAL_MAGIC), or as something that begins
 * like struct uspl_partial and that other code looks for. What lies before self, and the last page,
 * are guards. As all of it can be written to after the first request, a result page may be in the
 * part that stays writable (inject_run_mapping).
 */
void partial_mapping_begin(uint64_t magic, taddr map, uint64_t map_len, taddr self,
			   uint64_t info_len, struct inject_req *reqs);
/*
 * Unmaps what tools that have died left in the process. What can't be unmapped, as while a thread
 * is still at work there, is left for the next tool. No other tool may be at work there
 * (proc_lock.h). proc->maps are current afterwards.
 */
void partial_mapping_sweep(struct proc *proc);

#endif
