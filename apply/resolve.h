/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resolve.h - the value of every symbol that new code refers to, in one process
 *
 * In this order, and the answers must agree where there are several:
 * 1. a value inferred from the running code (match.h);
 * 2. for a local symbol: the running program's symbol table, restricted to its source file;
 * 3. for a global one: the module's own definition, then the dynamic symbols of the process in the
 *    order in which the dynamic linker looks them up for this module, with versions where the
 *    module asks for one.
 * An indirect function (STT_GNU_IFUNC) resolves to what the target itself uses: a bound GOT slot or
 * the module's PLT entry; only if there is neither is its resolver called, in the target.
 */
#ifndef USPL_APPLY_RESOLVE_H
#define USPL_APPLY_RESOLVE_H

#include "link/value.h"
#include "base/cleanup.h"
#include "match/match.h"
#include "proc/module.h"

struct resolver;

/* All arguments must outlive the resolver. */
int resolver_new(struct proc *proc, const module_vec *modules, const struct module *module,
		 const struct image *image, const struct match *match, struct resolver **ret,
		 struct uspl_err *err) uspl_must_check;
void resolver_free(struct resolver *resolver);
DEFINE_AUTO_FREE(resolver, struct resolver, resolver_free)
#define auto_resolver __attribute__((cleanup(cleanup_resolver_)))

/*
 * The value of a symbol by its refname. A weak symbol that no module defines is 0.
 * USPL_E_UNRESOLVED names the symbol and says where it was looked for.
 */
int resolve(struct resolver *resolver, const struct objsym *sym, struct symbol_value *ret_value,
	    struct uspl_err *err) uspl_must_check;

/*
 * True if references of the module to its own global definition mean another module's, which comes
 * first for the dynamic linker; *ret_value is that.
 */
bool resolve_interposed(const struct resolver *resolver, const struct objsym *sym,
			taddr *ret_value);

#endif
