/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mcount_sites.h - the calls of a profiler that a compiler has put into every function
 *
 * `gcc -pg` makes each function call mcount behind its prologue, or __fentry__ at its entry (with
 * -mfentry). They are of no use to us, cost time on every call, and are turned into NOPs when
 * tracing starts.
 */
#ifndef USPL_TRACE_ENGINE_MCOUNT_SITES_H
#define USPL_TRACE_ENGINE_MCOUNT_SITES_H

#include "proc/dynsym.h"

struct mcount_sites {
	slot_vec slots;     /* of the module for these functions */
	slot_vec functions; /* in a static program: the functions */
};

/* Finds out how the module calls them. image is the module's. */
int mcount_sites_find(const struct proc *proc, const struct module *module,
		      const struct image *image, struct mcount_sites *ret,
		      struct uspl_err *err) uspl_must_check;
void mcount_sites_release(struct mcount_sites *mcount_sites);
DEFINE_AUTO_RELEASE(mcount_sites, struct mcount_sites, mcount_sites_release)
#define auto_mcount_sites __attribute__((cleanup(cleanup_mcount_sites_)))

/*
 * The first such call in the function's first bytes: its address, and its length in *ret_len. 0 if
 * there is none.
 */
taddr mcount_sites_call_in(const struct mcount_sites *mcount_sites, const struct image *image,
			   taddr entry, uint64_t size, uint8_t *ret_len);

#endif
