/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calltree.h - call chains summed up: how much of something was seen in each
 *
 * Zero-initialise it. Whatever is counted (samples, nanoseconds, bytes) is the caller's; `self` is
 * what was counted in a chain that ends there.
 */
#ifndef USPL_TRACE_OUTPUT_CALLTREE_H
#define USPL_TRACE_OUTPUT_CALLTREE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

/* A function, or what is known instead: a module's code without a name is one symbol. */
struct symbol {
	char *name;   /* as people write it; "[libc.so.6]" if there is only the module */
	char *module; /* its file name; "?" if it is not known */
	uint32_t id;  /* counts from 0 */
};

#define CALLTREE_ROOT UINT32_MAX

struct calltree_node {
	const struct symbol *symbol; /* of a root: its `name` is the thread */
	uint32_t parent;             /* place in nodes; CALLTREE_ROOT: a thread */
	uint64_t self;
};

struct calltree {
	VEC(struct calltree_node) nodes; /* a caller stands before those that it calls */
	uint32_t *slots;                 /* hash of (parent, symbol): place in nodes + 1 */
	size_t n_slots;
};

/* Adds to a thread's chain of n functions, innermost first. */
int calltree_add(struct calltree *tree, const struct symbol *thread,
		 const struct symbol *const *chain, size_t n, uint64_t count,
		 struct uspl_err *err) uspl_must_check;
/*
 * The node of a function that parent calls (CALLTREE_ROOT: of a thread), made if it is new.
 * CALLTREE_ROOT: out of memory.
 */
uint32_t calltree_child(struct calltree *tree, uint32_t parent, const struct symbol *symbol);
void calltree_release(struct calltree *tree);
/*
 * What was counted in each node and in all below it, by place in nodes, to be freed; NULL when out
 * of memory.
 */
uint64_t *calltree_totals(const struct calltree *tree);

/* `thread;outer;inner COUNT`, a line for each chain, as flame graphs are made of. */
void calltree_add_folded(const struct calltree *tree, struct buf *out);
/*
 * An object for each chain, one to a line: {"thread", "stack": [outer, ..., inner], unit: COUNT};
 * unit is the key's name.
 */
void calltree_add_json(const struct calltree *tree, const char *unit, struct buf *out);
/*
 * For people: what share of all was counted in each function itself, and in it and what it calls;
 * then the tree, all threads in one. Functions and branches below `least` (of 1) are left out.
 */
int calltree_add_text(const struct calltree *tree, double least, struct buf *out,
		      struct uspl_err *err) uspl_must_check;

#endif
