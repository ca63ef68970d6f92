/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linkmap.h - the dynamic linker's own list of what it has loaded */
#ifndef USPL_PROC_LINKMAP_H
#define USPL_PROC_LINKMAP_H

#include "base/buf.h"
#include "base/cleanup.h"
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

struct linkmap_place {
	taddr addr;
	size_t len;
};

/*
 * What all lists had in them, to be compared with what they have later: a system call for 64
 * modules. Zero-initialise it.
 */
struct linkmap_watch {
	VEC(struct linkmap_place) places;
	struct buf seen, now;
	bool settled; /* no library was on its way in or out */
};

/* Reads all lists; where they begin, as above. What was in it is lost. */
int linkmap_watch_read(const struct proc *proc, taddr debug, struct linkmap_watch *watch,
		       struct uspl_err *err) uspl_must_check;
/* False if they have changed since they were read, weren't settled then, or can't be read. */
bool linkmap_watch_same(const struct proc *proc, struct linkmap_watch *watch);
void linkmap_watch_release(struct linkmap_watch *watch);
DEFINE_AUTO_RELEASE(linkmap_watch, struct linkmap_watch, linkmap_watch_release)
#define auto_linkmap_watch __attribute__((cleanup(cleanup_linkmap_watch_)))

#endif
