/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shared_map.h - memory of a session that no single module's part owns, mapped so that it can't be
 * lost
 *
 *     guard | mark, r-- | memory, rw-, empty in children of fork | shared memory, rw-, not there in
 *     children | guard
 *
 * The mark (struct uspl_trace_shared_map) comes with the mapping, in one run of a thread of the
 * target. So whatever a tool dies of, the next one finds all maps, and one munmap takes a map and
 * its mark.
 */
#ifndef USPL_TRACE_ENGINE_SHARED_MAP_H
#define USPL_TRACE_ENGINE_SHARED_MAP_H

#include "proc/proc.h"
#include "uspl/trace_abi.h"

struct shared_map {
	uint64_t own_len;    /* whole pages */
	uint64_t absent_len; /* the same; 0: there is none. Then the last word before it is ours */
	taddr own, absent;   /* out */
};

/*
 * Maps it, and reads proc->maps anew. USPL_E_SYSTEM if the process can't: then nothing is mapped,
 * or shared_maps_sweep will find it.
 */
int shared_map_map(struct proc *proc, struct shared_map *shared_map,
		   struct uspl_err *err) uspl_must_check;
/*
 * Notes in the mark of the map whose memory begins at `own` where in it the table of chunks is,
 * and what differs in their shadows, which go when the map is unmapped.
 */
int shared_map_note_chunks(const struct proc *proc, taddr own, taddr chunks, uint64_t shadow,
			   struct uspl_err *err) uspl_must_check;
/*
 * True if the process is a child of fork that has got a copy of the map whose memory begins at
 * `own`, without what is absent there. False also where there is no map.
 */
bool shared_map_is_copy(const struct proc *proc, taddr own);
/*
 * Unmaps the map whose memory begins at `own`, with the shadows of its chunks. No failure if it
 * isn't there any more. On failure what is left is found by shared_maps_sweep.
 */
int shared_map_unmap(const struct proc *proc, taddr own, struct uspl_err *err) uspl_must_check;
/*
 * Unmaps all that tools which died, or failed, have left: maps that no record of a session speaks
 * of, and what never got a record (record/partial_mapping.h). *ret_found counts the maps,
 * proc->maps are as they are afterwards. No other tool may be at work there (lock.h). Fails if it
 * can't be told what there is, or if something has to stay.
 */
int shared_maps_sweep(struct proc *proc, size_t *ret_found, struct uspl_err *err) uspl_must_check;

#endif
