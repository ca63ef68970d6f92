/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unfinished.h - memory that a tool has mapped in a process, and not come to use
 *
 * A region has a record only when all of it is in its place. Until then its first page says that it
 * is unfinished (struct uspl_unfinished), so that nothing stays behind unknown where a tool dies.
 */
#ifndef USPL_LIVE_UNFINISHED_H
#define USPL_LIVE_UNFINISHED_H

#include "proc/inject.h"
#include "uspl/abi.h"

#define UNFINISHED_REQS 6

/*
 * The first requests for a region, UNFINISHED_REQS of them: reserve [map, map + map_len), if it is
 * free (else the first one's result is -EEXIST), lay the page self of info_len bytes into it, r--,
 * and mark that by `magic`: as unfinished (USPL_UNFINISHED_MAGIC), or as something that begins like
 * struct uspl_unfinished and is looked for by somebody else.
 */
void unfinished_begin(uint64_t magic, taddr map, uint64_t map_len, taddr self, uint64_t info_len,
		      struct inject_req *reqs);
/* True if the mapping begins with a mark of that kind, which lies in what it speaks of. */
bool unfinished_read(const struct proc *proc, const struct mapping *map, uint64_t magic,
		     struct uspl_unfinished *ret);
/*
 * Unmaps what tools that have died left in the process; what can't be is left for the next one. No
 * other tool may be at work there (lock.h). proc->maps are as they are afterwards.
 */
void unfinished_sweep(struct proc *proc);

#endif
