/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * site.h - bytes of instruction slots, and changing many of them at once
 *
 * A site is a run of code bytes with two contents: what it has now and what it is to have. A plan
 * is a set of them, written in few, large pieces, so that the target stands still only briefly.
 *
 *     site_plan_add      name the sites
 *     site_plan_check    before the stop: read what is there and check it
 *     site_plan_prepare  before the stop: make the pages private
 *     site_plan_switch   in the stop: check again, write, read back (or _write, and _confirm later)
 *     site_plan_restore  in the stop: put back what site_plan_switch found
 */
#ifndef USPL_TEXT_SITE_H
#define USPL_TEXT_SITE_H

#include "arch/arch.h"
#include "proc/proc.h"

#define SITE_BYTES_MAX 16

struct site {
	const char *name; /* of the function; owned by the caller */
	taddr addr;
	uint8_t len;
	uint8_t from[SITE_BYTES_MAX], to[SITE_BYTES_MAX];
	/*
	 * How many of its bytes hold several instructions: when these are replaced by a single one
	 * no thread may stand in them, except at the first one. 0 or 1: that doesn't matter.
	 */
	uint8_t guard;
	/* What it may hold as well, where it leads to a trampoline (lib/switch/trampolines.h). */
	bool has_trampoline;
	uint8_t trampoline[SITE_BYTES_MAX];
};

typedef VEC(struct site) site_vec;

/*
 * True if it can't be written while threads run: several instructions become one, or it doesn't lie
 * in one word.
 */
bool site_needs_stop(const struct site *site);

/*
 * A piece of code memory, of whole words, that is written in one go; it covers one or more sites.
 */
struct site_piece {
	taddr addr;
	size_t len;
	uint8_t *before, *after; /* len bytes each */
	uint8_t *now;            /* room for as many, for what is read in the stop */
	size_t room;             /* how many bytes there is memory for, at before */
};

/* A byte of code, and what it is. */
struct site_byte {
	taddr addr;
	uint8_t value;
};

struct site_plan {
	const struct proc *proc;
	bool either; /* after an interrupted switch: a site may have its new bytes already */
	site_vec sites;
	VEC(struct site_piece) pieces;
	size_t written; /* pieces that site_plan_switch has begun to write */
	size_t kept;    /* pieces that have memory: those in use, and those of site_plan_clear */
	VEC(struct site_byte)
	foreign; /* one of each page that isn't the process's own, if looked */
	bool looked;
};

/* Copies the site into the plan. */
int site_plan_add(struct site_plan *plan, const struct site *site,
		  struct uspl_err *err) uspl_must_check;
/* USPL_E_OVERWRITTEN, with the function and the bytes, if a site doesn't have its `from` bytes. */
int site_plan_check(struct site_plan *plan, struct uspl_err *err) uspl_must_check;
/*
 * The same for sites that are sorted by address, and that the plan doesn't copy: they are its only
 * ones, and it doesn't use them later.
 */
int site_plan_check_these(struct site_plan *plan, const struct site *sites, size_t n,
			  struct uspl_err *err) uspl_must_check;
/*
 * Finds out which pages aren't the process's own, for a site_plan_prepare that is to be quick: 50
 * us for 400 pages. One that it shares with a child since is made private only when it is written.
 */
int site_plan_look(struct site_plan *plan, struct uspl_err *err) uspl_must_check;
/*
 * Writes one byte of each page that isn't the process's own yet, with the value that it has: the
 * kernel makes the page private now (some microseconds), and not while all threads wait. Threads
 * that run through it don't notice.
 */
int site_plan_prepare(struct site_plan *plan, struct uspl_err *err) uspl_must_check;
/* On failure nothing is kept: what was written is put back, or the code is USPL_E_STRANDED. */
int site_plan_switch(struct site_plan *plan, struct uspl_err *err) uspl_must_check;
/* The same without reading back; site_plan_confirm does that when no thread waits any more. */
int site_plan_write(struct site_plan *plan, struct uspl_err *err) uspl_must_check;
/* USPL_E_SYSTEM if a site doesn't have what was written to it. */
int site_plan_confirm(const struct site_plan *plan, struct uspl_err *err) uspl_must_check;
/*
 * USPL_E_STRANDED if a byte can't be put back. USPL_E_NO_PROCESS: there is no longer a process to
 * put it back in.
 */
int site_plan_restore(struct site_plan *plan, struct uspl_err *err) uspl_must_check;
/*
 * Takes all sites out, and keeps the memory for others: new memory costs more than what is done
 * with it.
 */
void site_plan_clear(struct site_plan *plan);
/* Frees the plan; nothing in the target. */
void site_plan_release(struct site_plan *plan);

#endif
