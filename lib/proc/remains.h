/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * remains.h - what a tool holds of a process, to read it when the process is over
 *
 * Memory that is shared, and the files of modules, are there as long as a process has them open. So
 * a tool that has opened them while the process lived (hold.h) reads them afterwards: proc_read and
 * its like find them by the addresses that they had. What was private to the process is gone.
 */
#ifndef USPL_PROC_REMAINS_H
#define USPL_PROC_REMAINS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/types.h"
#include "base/vec.h"

/* What lay at these addresses. */
struct remains_piece {
	taddr start;
	uint64_t len, offset;
	int fd;
};

/* A file that is open. */
struct remains_file {
	taddr module; /* where the module began that was mapped from it; 0: it is memory */
	int fd;
};

struct remains {
	VEC(struct remains_piece) pieces;
	VEC(struct remains_file) files;
	pid_t main; /* the main thread's id, as the process itself has it */
};

/* How many of the len bytes at addr could be read, from the first one on. remains may be NULL. */
size_t remains_read(const struct remains *remains, taddr addr, void *buf, size_t len);
/* A descriptor of the file that the module was mapped from, for the caller to close; -1: none. */
int remains_open_file(const struct remains *remains, taddr module);
/* Closes all. NULL is fine. */
void remains_free(struct remains *remains);

#endif
