/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * punned.h - jumps in pages of their own, where entries want them
 *
 * An entry of which not all bytes can be chosen leads to a punned trampoline, and that to where the
 * entry should have led. Punned trampolines of several functions and updates share pages. A page
 * belongs to punned trampolines if the record of an update names one in it; it is r-x, and never
 * unmapped once something has led there.
 */
#ifndef USPL_TEXT_PUNNED_H
#define USPL_TEXT_PUNNED_H

#include "arch/trampoline.h"
#include "proc/module.h"
#include "record/region.h"

/* A punned trampoline that is planned. */
struct punned_trampoline {
	taddr at;
	uint8_t len;
	uint8_t code[PUNNED_MAX];
};

struct punned {
	const struct proc *proc;
	const module_vec *modules;
	region_vec present; /* all regions of the process, with their punned trampolines */
	VEC(struct punned_trampoline) items;
	VEC(taddr) pages; /* to be mapped for them */
};

/*
 * proc and modules must outlive the punned trampolines, proc->maps must be current. punned_release
 * is to be called even after a failure.
 */
int punned_open(struct punned *punned, const struct proc *proc, const module_vec *modules,
		struct uspl_err *err) uspl_must_check;
/*
 * Plans the jump from `at` to `to` as the site's punned trampoline (site->punned, punned_len).
 * USPL_E_UNSUPPORTED, saying why, if the place isn't free or is better left free.
 */
int punned_add(struct punned *punned, struct region_site *site, taddr at, taddr to,
	       struct uspl_err *err) uspl_must_check;
/*
 * The same at any place within reach of the site, preferably where the site's punned trampoline lay
 * before, or beside others. USPL_E_OUT_OF_REACH if there is none.
 */
int punned_add_near(struct punned *punned, struct region_site *site, taddr to,
		    struct uspl_err *err) uspl_must_check;
/*
 * The next place after `at` that may do: in a page of punned trampolines a bit further on, else in
 * the next page.
 */
taddr punned_next(const struct punned *punned, taddr at);
/*
 * Maps the pages that are missing; result_page as in struct inject_choice. USPL_E_UNSUPPORTED, with
 * none of them mapped, if one has been taken meanwhile.
 */
int punned_map(const struct punned *punned, taddr result_page,
	       struct uspl_err *err) uspl_must_check;
/*
 * Writes the punned trampolines. The record that names them must have been written after
 * punned_map: a page that no record names is taken for the program's own.
 */
int punned_write(const struct punned *punned, struct uspl_err *err) uspl_must_check;
/* Frees the plan; nothing in the target. */
void punned_release(struct punned *punned);

/*
 * Unmaps the region's punned trampolines that no other update needs. For a region that nothing has
 * ever led to, or nothing can lead to any more.
 */
int punned_discard(const struct proc *proc, const struct region *region,
		   struct uspl_err *err) uspl_must_check;

/*
 * Writes code where nothing or the same is; the place may be code that a thread is running.
 * USPL_E_UNSUPPORTED if something else is there. At most TRAMPOLINE_LEN_MAX bytes.
 */
int punned_write_once(const struct proc *proc, taddr at, const uint8_t *code, size_t len,
		      struct uspl_err *err) uspl_must_check;

#endif
