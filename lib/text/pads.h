/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pads.h - jumps in pages of their own, where entries want them
 *
 * An entry of which not all bytes can be chosen leads to a pad, and that to where the entry should
 * have led. Pads of several functions and updates share pages. A page belongs to pads if the record
 * of an update names one in it; it is r-x, and never unmapped once something has led there.
 */
#ifndef USPL_TEXT_PADS_H
#define USPL_TEXT_PADS_H

#include "arch/trampoline.h"
#include "proc/module.h"
#include "record/region.h"

/* A pad that is planned. */
struct pad {
	taddr at;
	uint8_t len;
	uint8_t code[PAD_MAX];
};

struct pads {
	const struct proc *proc;
	const module_vec *modules;
	region_vec present; /* all regions of the process: whose pads lie where */
	VEC(struct pad) items;
	VEC(taddr) pages; /* to be mapped for them */
};

/*
 * proc and modules must outlive the pads, proc->maps must be current. pads_release is to be called
 * even after a failure.
 */
int pads_open(struct pads *pads, const struct proc *proc, const module_vec *modules,
	      struct uspl_err *err) uspl_must_check;
/*
 * Plans the jump from `at` to `to` as the site's pad (site->pad, pad_len). USPL_E_UNSUPPORTED,
 * saying why, if the place isn't free or is better left free.
 */
int pads_add(struct pads *pads, struct region_site *site, taddr at, taddr to,
	     struct uspl_err *err) uspl_must_check;
/*
 * The same at any place within reach of the site; best where the site's pad lay before, or beside
 * others. USPL_E_OUT_OF_REACH if there is none.
 */
int pads_add_near(struct pads *pads, struct region_site *site, taddr to,
		  struct uspl_err *err) uspl_must_check;
/*
 * The next place after `at` that may do: in a page of pads a bit further on, else in the next page.
 */
taddr pads_next(const struct pads *pads, taddr at);
/*
 * Maps the pages that are missing; slate as in struct inject_choice. USPL_E_UNSUPPORTED, with none
 * of them mapped, if one has been taken meanwhile.
 */
int pads_map(const struct pads *pads, taddr slate, struct uspl_err *err) uspl_must_check;
/*
 * Writes the pads. The record that names them must have been written after pads_map: a page that no
 * record names is taken for the program's own.
 */
int pads_write(const struct pads *pads, struct uspl_err *err) uspl_must_check;
/* Frees the plan; nothing in the target. */
void pads_release(struct pads *pads);

/*
 * Unmaps the region's pads that no other update needs. For a region that nothing has ever led to,
 * or nothing can lead to any more.
 */
int pads_discard(const struct proc *proc, const struct region *region,
		 struct uspl_err *err) uspl_must_check;

/*
 * Writes code where nothing or the same is; the place may be code that somebody is running.
 * USPL_E_UNSUPPORTED if something else is there. At most GATE_LEN bytes.
 */
int pads_write_once(const struct proc *proc, taddr at, const uint8_t *code, size_t len,
		    struct uspl_err *err) uspl_must_check;

#endif
