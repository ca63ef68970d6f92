/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loading.h - how long the dynamic linker takes for each library
 *
 * Told by the system calls that it makes. The last call for a library that is brought into memory
 * is the close of its file. When all are there they are relocated one after the other, and behind
 * that each gets its constants made read-only (PT_GNU_RELRO): one that has none counts with the one
 * after it. What a stop at a call takes itself is left out: at most what the shortest of all took.
 */
#ifndef USPL_TRACE_TRACERS_LOADING_H
#define USPL_TRACE_TRACERS_LOADING_H

#include "base/vec.h"
#include "proc/module.h"
#include "trace/tracers/child.h"

/* What has been done to the module that `at` lies in, since the step before. */
struct loading_step {
	taddr at;
	bool relocated; /* else brought into memory */
	int64_t ns;
	unsigned stops;
};

/* Zero-initialise it. */
struct loading {
	VEC(struct loading_step) steps;
	struct loading_step now; /* the one that goes on */
	int64_t least_ns;        /* the shortest time between two stops */
	int64_t other_ns;        /* not for one module */
	unsigned other_stops;
	bool settled; /* all libraries are there */
	bool oom;
};

/* A module, and what it took; negative: it wasn't done. */
struct loading_time {
	const struct module *module;
	double mapped_us, relocated_us;
};

typedef VEC(struct loading_time) loading_vec;

/* For struct child_listener; ctx is the struct loading. */
void loading_stop(void *ctx, const struct child_stop *stop);
/*
 * What each module took, in the order in which the dynamic linker came to them, and all together.
 * vec_release frees ret; modules must outlive it.
 */
int loading_times(const struct loading *loading, const module_vec *modules, loading_vec *ret,
		  double *ret_sum_us, struct uspl_err *err) uspl_must_check;
void loading_release(struct loading *loading);

#endif
