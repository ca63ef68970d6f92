/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dynsym.h - what a module tells the dynamic linker: its dynamic symbols, versions, slots and needs
 *
 * Read from the process's memory, since the file may be gone. Everything in the tables is taken as
 * hostile: a module that lies about its size has no symbols. But a table that the process maps and
 * that can't be read is a failure: a symbol that isn't found here is looked for elsewhere.
 */
#ifndef USPL_PROC_DYNSYM_H
#define USPL_PROC_DYNSYM_H

#include "proc/module.h"

struct dynsyms {
	const struct proc *proc;
	const struct module *module;
	VEC(const char *) needed; /* DT_NEEDED, in order; point into strtab */
	taddr debug;              /* DT_DEBUG: the dynamic linker's struct r_debug, 0 if none */
	bool symbolic;            /* -Bsymbolic: its references mean its own definitions */
	char *strtab;
	size_t strtab_len;
	Elf64_Sym *syms;
	size_t n_syms;
	uint16_t *versyms;          /* n_syms of them, NULL without versions */
	VEC(const char *) versions; /* by version index; NULL for one that isn't named */
	VEC(Elf64_Rela) relocs;     /* .rela.dyn and .rela.plt */
	/*
	 * Names, by hash: an index of syms plus 1, 0 for none. Filled in once a name is asked for.
	 */
	uint32_t *first, *next;
	uint32_t hash_mask;
	bool indexed;
	struct dynsyms_page *page; /* a piece of the module's constants, while they are read */
	Elf64_Dyn *dynamic;        /* the dynamic section */
	size_t n_dynamic;
	unsigned int users; /* callers that have it open, and the module */
};

/*
 * Reads a module's dynamic section and its tables. A module that has none (a static program) is no
 * failure: it has no symbols. Nor has a module that the program has unloaded meanwhile. The tables
 * of a lasting module are read once, and belong to it as well: it must outlive what is opened.
 */
int dynsyms_open(const struct proc *proc, const struct module *module, struct dynsyms **ret,
		 struct uspl_err *err) uspl_must_check;
void dynsyms_free(struct dynsyms *dyn);
DEFINE_AUTO_FREE(dynsyms, struct dynsyms, dynsyms_free)
#define auto_dynsyms __attribute__((cleanup(cleanup_dynsyms_)))

/*
 * The definition that the dynamic linker would take from this module: of that version, or of the
 * default one if version is NULL. NULL if there is none (or its name lies behind 1 GiB of others).
 * In a program that isn't position independent an undefined function with a value counts: for all
 * modules its address is that of its stub (the psABI's "canonical" address).
 */
const Elf64_Sym *dynsyms_find(struct dynsyms *dyn, const char *name, const char *version);
/*
 * The version in which the module asks others for this symbol; NULL if it doesn't, or asks for no
 * version.
 */
const char *dynsyms_wanted_version(struct dynsyms *dyn, const char *name);
typedef VEC(taddr) slot_vec;

/* Adds where the module's own slots for a symbol that it imports are. False: out of memory. */
bool dynsyms_slots(struct dynsyms *dyn, const char *name, slot_vec *slots) uspl_must_check;
/*
 * What the module's own slot for a symbol that it imports holds, once it is bound. Returns false if
 * there is no such slot, or if it still leads to the dynamic linker.
 */
bool dynsyms_bound_slot(struct dynsyms *dyn, const char *name, taddr *ret_value);
/*
 * What the resolver of an indirect function at this address returned to the dynamic linker when the
 * module was loaded.
 */
bool dynsyms_irelative(struct dynsyms *dyn, taddr resolver, taddr *ret_value);
/*
 * True if the module's own references mean its own definition of that name, even if other modules
 * have one: it was linked with -Bsymbolic, or the symbol is protected.
 */
bool dynsyms_prefers_own(struct dynsyms *dyn, const char *name);
/* The module's dynamic relocations, except those that only add its place; *ret_n of them. */
const Elf64_Rela *dynsyms_relocs(struct dynsyms *dyn, size_t *ret_n);
/* A string of the string table; "" for an offset beyond it. */
const char *dynsyms_string(const struct dynsyms *dyn, uint64_t offset);
/* How much memory its tables take. */
uint64_t dynsyms_bytes(const struct dynsyms *dyn);
/* An address in the file as an address in memory. */
taddr dynsyms_address(const struct dynsyms *dyn, uint64_t value);

#endif
