/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * symbols.h - the functions that addresses lie in, by all that the process has mapped
 *
 * What is found out about an address is kept: the next question costs a look into a table. Symbols
 * live as long as the struct symbols, even if their module is unloaded.
 */
#ifndef USPL_TRACE_WATCH_SYMBOLS_H
#define USPL_TRACE_WATCH_SYMBOLS_H

#include "base/strmap.h"
#include "proc/module.h"
#include "trace/output/calltree.h"

struct symbols;

/* proc must outlive it; its maps are read anew when needed. */
int symbols_new(struct proc *proc, struct symbols **ret, struct uspl_err *err) uspl_must_check;
void symbols_free(struct symbols *symbols);
/* The modules by which it answers, to be used until the next symbols_refresh. */
const module_vec *symbols_modules(const struct symbols *symbols);
/*
 * Looks again at what the process has mapped: libraries come and go. On failure (the process has
 * ended) all stays as it was.
 */
int symbols_refresh(struct symbols *symbols, struct uspl_err *err) uspl_must_check;
/*
 * The function that the instruction at pc belongs to (of a return address: ask for the byte before
 * it). NULL when out of memory.
 */
const struct symbol *symbols_at(struct symbols *symbols, taddr pc);
/*
 * Where the function begins that the instruction at pc belongs to, and its size; false if only the
 * module is known, or less. Not kept: it costs a search.
 */
bool symbols_function(struct symbols *symbols, taddr pc, taddr *ret_start, uint64_t *ret_size);
/*
 * A symbol of that name which is no function, as a mark in a chain; the same name gives the same.
 */
const struct symbol *symbols_mark(struct symbols *symbols, const char *name);
/* True if pc lies in nothing that is known: symbols_refresh may help. */
bool symbols_is_strange(const struct symbols *symbols, taddr pc);

#endif
