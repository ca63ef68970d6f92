/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linkmap.h - the dynamic linker's own list of what it has loaded */
#ifndef USPL_PROC_LINKMAP_H
#define USPL_PROC_LINKMAP_H

#include "base/vec.h"
#include "proc/proc.h"

/* A struct link_map of the process. */
struct linkmap {
	taddr addr;
	taddr dynamic; /* the module's dynamic section, by which it is known */
};

typedef VEC(struct linkmap) linkmap_vec;

/*
 * The list that holds the module with this dynamic section, in its order. A program that calls
 * dlmopen(3) has several, one for each name space; if none holds the module, it is the first, the
 * program's own. They begin where the program's DT_DEBUG leads to (dynsyms.debug); empty for a
 * program that has none. vec_release frees it.
 */
int linkmaps_read(const struct proc *proc, taddr debug, taddr dynamic, linkmap_vec *ret,
		  struct uspl_err *err) uspl_must_check;

#endif
