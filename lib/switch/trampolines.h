/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trampolines.h - the trampolines of an update: planned, brought into the process, and armed
 *
 * docs/transition.md says what they are for. These are the trampolines of one region. trampolines.c
 * plans and loads them, trampolines_arm.c changes what stands at the entries,
 * trampolines_selector.c reads and writes the selector that they read, trampolines_guard.c says
 * where in them no thread may be.
 *
 *     trampolines_plan   nothing is touched: can each entry lead to a trampoline, and how?
 *                        (entries.h does it for some of them, while the update is loaded)
 *     trampolines_load   punned trampolines and trampolines lie in the target, the record says so;
 *                        nothing leads there yet
 *     trampolines_arm    entries lead to their trampolines (ENTRY_TRAMPOLINE), or no longer do, one
 *                        after another, while the program runs; each step is of no consequence to
 *                        it
 */
#ifndef USPL_SWITCH_TRAMPOLINES_H
#define USPL_SWITCH_TRAMPOLINES_H

#include "arch/trampoline.h"
#include "proc/module.h"
#include "record/region.h"
#include "safety/safety.h"
#include "text/punned.h"

/* in it, behind struct uspl_selector: a result page for the agent */
#define TRAMPOLINES_RESULT_PAGE_AT 1024ull

/* How many bytes the trampolines of a region take, with the selector's page. */
uint64_t trampolines_size(const struct region *region);
/* Says that the trampolines lie at that address. */
void trampolines_place(struct region *region, taddr at);
/*
 * Where a thread that works for the tool can leave its answers (inject.h); 0 if the region has no
 * trampolines.
 */
taddr trampolines_result_page(const struct region *region);
/* Takes over how entries were led to trampolines from the region whose place this one takes. */
void trampolines_take_over(struct region *region, const struct region *old);

/* What stands at an entry. */
enum entry_form {
	ENTRY_ORIGINAL,   /* the bytes that were there before the update: the old function */
	ENTRY_TRAMPOLINE, /* a jump to the trampoline, perhaps by way of a punned trampoline */
	ENTRY_DIRECT,     /* a jump straight to the new function */
	ENTRY_ALIEN,
};

struct trampoline {
	struct region_site *site;
	uint8_t code[TRAMPOLINE_LEN_MAX];
};

struct trampolines {
	struct region *region;
	VEC(struct trampoline) items;
	struct punned punned; /* of the trampolines that a punned jump leads to */
};

/*
 * An empty plan. region and modules must outlive the trampolines. On failure trampolines_release is
 * to be called all the same.
 */
int trampolines_open(struct trampolines *trampolines, const struct proc *proc,
		     const module_vec *modules, struct region *region,
		     struct uspl_err *err) uspl_must_check;
/*
 * Plans the trampoline of one of the region's sites, and nothing that leads to it.
 * USPL_E_UNSUPPORTED or USPL_E_OUT_OF_REACH, saying why, if the function can't have one.
 */
int trampolines_add(struct trampolines *trampolines, struct region_site *site,
		    struct uspl_err *err) uspl_must_check;
/*
 * USPL_E_UNSUPPORTED or USPL_E_OUT_OF_REACH, saying why, if a function can't have a trampoline.
 * region and modules must outlive the trampolines. On failure trampolines_release is to be called
 * all the same.
 */
int trampolines_plan(struct trampolines *trampolines, const struct proc *proc,
		     const module_vec *modules, struct region *region,
		     struct uspl_err *err) uspl_must_check;
/*
 * Fails like trampolines_plan if a place has been taken meanwhile, or if other trampolines, which a
 * thread may be in, already lie there.
 */
int trampolines_load(struct trampolines *trampolines, struct uspl_err *err) uspl_must_check;
/* What stands at the site's entry now. */
enum entry_form trampolines_entry_form(const struct proc *proc, const struct region *region,
				       const struct region_site *site);
/*
 * Makes all entries have that form. Entries that can't be changed while the program runs stay as
 * they are if that means the same (ENTRY_DIRECT from ENTRY_TRAMPOLINE); otherwise it is a failure.
 */
int trampolines_arm(const struct proc *proc, const module_vec *modules, struct region *region,
		    enum entry_form to, struct uspl_err *err) uspl_must_check;
/* Frees the plan; nothing in the target. */
void trampolines_release(struct trampolines *trampolines);

/* Where the site's trampoline lies. */
taddr trampoline_address(const struct region *region, const struct region_site *site);
/*
 * True if the site's trampoline leads to another old code than the one that the site says: to that
 * of an update whose place this one has taken. It can't be used any more, and the stop-all way is
 * taken, which has to find no thread in it.
 */
bool trampoline_is_other(const struct proc *proc, const struct region *region,
			 const struct region_site *site);
/*
 * A jump to a trampoline, in the bytes of a function's entry, becomes the jump to where the
 * trampoline leads. For an entry that is moved while no tool switches: its trampoline would not be
 * known in the new place.
 */
void trampolines_make_direct(const region_vec *regions, taddr entry, uint8_t *bytes);
/* The bytes that lead the site's entry to its trampoline; false if the site has none. */
bool trampolines_jump(const struct region *region, const struct region_site *site,
		      uint8_t bytes[USPL_SITE_BYTES_MAX]);
/* What a region's selector says. */
struct trampoline_selector {
	/*
	 * enum uspl_selector_value, never FOLLOW: what the selector that decides says, or a commit
	 * byte beside its hold.
	 */
	uint8_t value;
	bool follows; /* the value is another region's */
	taddr leader; /* the selector that decides where this one isn't OLD or NEW; 0: never set */
};

/* Reads the selector, and the one that it follows. */
int trampolines_read_selector(const struct proc *proc, const struct region *region,
			      struct trampoline_selector *ret,
			      struct uspl_err *err) uspl_must_check;
/*
 * True where threads go over one by one: *ret_left are those that have a slot and haven't cleared
 * it; NULL: that isn't wanted. A thread that never comes to a trampoline again stays among them.
 */
bool trampolines_by_thread(const struct proc *proc, const struct region *region, size_t *ret_left);
/*
 * Where a tool has died, a commit byte may stand beside a selector that holds. Makes the selector
 * say by itself what both mean together, before the commit byte is forgotten.
 */
int trampolines_end_commit(const struct proc *proc, const struct region *region,
			   struct uspl_err *err) uspl_must_check;
/*
 * Writes the selector from outside: only where no thread can be reading it for a switch of its own.
 */
int trampolines_write_selector(const struct proc *proc, const struct region *region,
			       enum uspl_selector_value value,
			       struct uspl_err *err) uspl_must_check;
/*
 * Says which selector decides where the region's own doesn't. USPL_E_UNSUPPORTED if it was another
 * selector and a thread may still go by that.
 */
int trampolines_set_leader(const struct proc *proc, const struct region *region, taddr leader,
			   struct unwinder *unwinder, struct uspl_err *err) uspl_must_check;
/*
 * True if a thread in trampolines of one of these regions may be about to read the selector of
 * `leader`, which has to stay then. Stops threads that run for a moment, if these trampolines ever
 * went by that selector.
 */
bool trampolines_go_by(const struct proc *proc, const module_vec *modules,
		       const region_vec *regions, const struct region *leader);
/* True if nothing leads to the trampolines and the new code, whatever the region's state says. */
bool trampolines_rest(const struct proc *proc, const struct region *region);
/*
 * Adds to `safety` where a thread is in a region's trampolines on its way to old code (or new
 * code), and where it is in the trampolines and punned trampolines that other updates have left
 * behind at the same entries: this update's selector doesn't decide where those lead.
 */
int trampolines_guard(struct safety *safety, const struct region *region, const region_vec *present,
		      bool to_old, struct uspl_err *err) uspl_must_check;
/*
 * Where nothing leads to a region's trampolines and punned trampolines any more: true if no thread
 * is on its way through one. Stops threads that run for a moment. Also false if that can't be told.
 */
bool trampolines_are_left(const struct proc *proc, const struct region *region,
			  struct unwinder *unwinder);

#endif
