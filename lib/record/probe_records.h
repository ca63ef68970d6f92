/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probe_records.h - which markers are on in a process, as its own memory says
 *
 * include/uspl/mark_abi.h has the records. This is the reading half, which apply and undo need as
 * well: the code of probes belongs to the functions that their sites are in. trace/probe switches
 * markers on and off.
 */
#ifndef USPL_RECORD_PROBE_RECORDS_H
#define USPL_RECORD_PROBE_RECORDS_H

#include "base/vec.h"
#include "record/trace_records.h"
#include "uspl/mark_abi.h"

/* The probes of one session in one module, made by one command. */
struct mark_region {
	struct uspl_mark_region head;
	VEC(struct uspl_probe) probes;
	VEC(struct uspl_mark_switch) switches;
	char *info; /* head.info_len bytes and a NUL: what the offsets lead to */
	VEC(bool) on;
};

/* Where a jump to a probe leads: probe number `probe` of region number `region`. */
struct mark_place {
	taddr addr;
	size_t region, probe;
};

struct marks {
	VEC(struct mark_region) regions;
	VEC(struct mark_place) places; /* sorted */
	struct trace_session traced;   /* what is traced too: its jumps may stand before theirs */
};

/* Reads all that there are. */
int marks_read(const struct proc *proc, struct marks *ret, struct uspl_err *err) uspl_must_check;
void marks_release(struct marks *marks);
DEFINE_AUTO_RELEASE(marks, struct marks, marks_release)
#define auto_marks __attribute__((cleanup(cleanup_marks_)))

/* True if a probe of any session is on. */
bool marks_are_on(const struct marks *marks);
/* Gives the image of a module the bytes that the program itself has at markers that are on. */
void marks_unpatch_image(const struct proc *proc, const struct marks *marks, struct image *image);
/*
 * True if a probe is on, or a switch leads to one, within the len bytes at the beginning of a
 * function that are moved for the tracer: they hold its jump. Those that begin with the function
 * don't count: their jump can be where the tracer's leads (marks_innermost).
 */
bool marks_cover(const struct marks *marks, taddr entry, uint64_t len);
/* True if a jump of a marker that is on is in those bytes. */
bool marks_jump_in(const struct proc *proc, const struct marks *marks, taddr addr, uint64_t len);
/*
 * USPL_E_CONFLICT if a marker's jump is in the first bytes of a function, len bytes at `entry`,
 * which an update changes, and can't stand before the update's (record/chain_slot.h).
 */
int marks_refuse_at(const struct proc *proc, const struct marks *marks, const char *function,
		    taddr entry, uint64_t len, struct uspl_err *err) uspl_must_check;
/* A text of a region's record, "" if the offset is damaged. */
const char *mark_text(const struct mark_region *region, uint32_t offset);
/* The session's probe of that id, and its region; NULL if there is none. */
const struct uspl_probe *marks_probe(const struct marks *marks, const char *session, uint32_t id,
				     const struct mark_region **ret_region);
/* The session's first region, NULL if it has none. */
const struct mark_region *marks_session(const struct marks *marks, const char *session);
/* What the programs of a session have run into, in all its regions. */
struct uspl_mark_cuts marks_cuts(const struct proc *proc, const struct marks *marks,
				 const char *session);
/* Frees what the structure owns; nothing in the target. */
void mark_region_release(struct mark_region *region);

/* The probe that a jump to `to` leads to, with its region; NULL if there is none. */
const struct uspl_probe *marks_at(const struct marks *marks, taddr to,
				  const struct mark_region **ret_region);
/* Where a jump of five bytes at addr leads; 0 if there is none. */
taddr mark_target(const struct proc *proc, taddr addr);
/*
 * Where the chain of a site begins: there, or, if a traced function begins there, in the chain slot
 * of its body (record/chain_slot.h).
 */
taddr marks_head(const struct proc *proc, const struct marks *marks, taddr site);
/*
 * One step along a site's chain, from the jump at *at: the probe that it leads to, with its region,
 * and *at becomes that one's chain slot. NULL: the chain ends at *at.
 */
const struct uspl_probe *marks_step(const struct proc *proc, const struct marks *marks, taddr site,
				    taddr *at, const struct mark_region **ret_region);
/* The last probe of a site's chain, NULL if there is none. */
const struct uspl_probe *marks_last(const struct proc *proc, const struct marks *marks, taddr site);
/*
 * Where the innermost jump of a site is: the last probe's chain slot, the chain slot of a traced
 * function's body, or the site itself. A marker's switch with which the function begins has its
 * jump there. ret_none: what is there without it, if the site is a NOP.
 */
taddr marks_innermost(const struct proc *proc, const struct marks *marks, taddr site,
		      uint8_t ret_none[USPL_TRACE_SITE_BYTES]);
/* Finds out which probes are on. */
void marks_walk(const struct proc *proc, struct marks *marks);

#endif
