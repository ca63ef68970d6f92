/* SPDX-License-Identifier: GPL-3.0-or-later */
/* untraceable.h - functions that can't be traced as others are */
#ifndef USPL_TRACE_ENGINE_UNTRACEABLE_H
#define USPL_TRACE_ENGINE_UNTRACEABLE_H

#include "trace/engine/candidate.h"

/* What a module is. */
struct untraceable {
	const struct image *image;
	bool go;       /* built by Go */
	bool unwinder; /* unwinds stacks */
	bool frames;   /* most of its functions have call frame information */
};

/* Looks at the image, which must outlive it, and its functions. */
void untraceable_init(struct untraceable *untraceable, const struct image *image,
		      const candidate_vec *candidates);
/*
 * Why a function of that name (NULL: not known) can't be traced at all; NULL if nothing is known.
 */
const char *untraceable_why(const struct untraceable *untraceable, const char *name);
/*
 * True if only the function's entry can be: it returns twice, looks at its caller, or has no call
 * frame information, as most others of its module do, and may do anything with its stack: V8's
 * builtins pop their return address with their arguments.
 */
bool untraceable_entry_only(const struct untraceable *untraceable,
			    const struct candidate *candidate);

#endif
