/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scope.h - in which order the dynamic linker looks for a module's symbols */
#ifndef USPL_APPLY_SCOPE_H
#define USPL_APPLY_SCOPE_H

#include "proc/dynsym.h"

typedef VEC(struct dynsyms *) dynsyms_list;

struct scope {
	struct dynsyms **all; /* of every module, in the order of the module vec; owned */
	size_t n_all;
	struct dynsyms *own; /* the module's */
	dynsyms_list order;
};

/* Where a global symbol is defined. */
struct scope_def {
	struct dynsyms *dyn;
	const Elf64_Sym *sym;
};

/* Finds out the order for a module of modules. */
int scope_init(struct scope *scope, const struct proc *proc, const module_vec *modules,
	       const struct module *module, struct uspl_err *err) uspl_must_check;
void scope_release(struct scope *scope);

/* The first definition in the scope; false if there is none. */
bool scope_find(const struct scope *scope, const char *name, struct scope_def *ret);
/* What a bound slot for an imported symbol holds: the module's own one, or else another's. */
bool scope_bound_slot(const struct scope *scope, const char *name, taddr *ret_value);

#endif
