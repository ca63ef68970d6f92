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
 * The list that the program's DT_DEBUG leads to (dynsyms.debug), in its order; empty for a program
 * that has none. vec_release frees it.
 */
int linkmaps_read(const struct proc *proc, taddr debug, linkmap_vec *ret,
		  struct uspl_err *err) uspl_must_check;

#endif
