// SPDX-License-Identifier: GPL-3.0-or-later
// resolve.c - the value of every symbol that new code refers to, in one process
//
// The order is written down in resolve.h. What the running code itself refers to is the best
// witness: it needs no symbol table, knows no twins, and has what the dynamic linker bound. Symbol
// tables come next.

#include "apply/resolve.h"

#include <inttypes.h>
#include <string.h>

#include "apply/scope.h"
#include "match/own_names.h"
#include "proc/module_tls.h"
#include "safety/safe_call.h"
#include "objfile/refname.h"

struct resolver {
	struct proc *proc;
	const module_vec *modules;
	const struct module *module;
	const struct image *image;
	const struct match *match;
	struct scope scope;
};

int resolver_new(struct proc *proc, const module_vec *modules, const struct module *module,
		 const struct image *image, const struct match *match, struct resolver **ret,
		 struct uspl_err *err)
{
	auto_resolver struct resolver *resolver = calloc(1, sizeof(*resolver));
	int rc;

	if (!resolver)
		return uspl_fail_nomem(err);
	resolver->proc = proc;
	resolver->modules = modules;
	resolver->module = module;
	resolver->image = image;
	resolver->match = match;
	rc = scope_init(&resolver->scope, proc, modules, module, err);
	if (rc)
		return rc;
	*ret = take_ptr(resolver);
	return 0;
}

void resolver_free(struct resolver *resolver)
{
	if (!resolver)
		return;
	scope_release(&resolver->scope);
	free(resolver);
}

/*
 * An indirect function is what its resolver chose; the target's own slots know it, or the resolver
 * is asked once more.
 */
static int resolve_indirect(struct resolver *resolver, const struct objsym *sym,
			    struct dynsyms *definer, taddr function, taddr *ret_value,
			    struct uspl_err *err)
{
	const char *name = refname_symbol(sym->name);
	struct inject_req req = { .kind = INJECT_CALL, .what = function };
	taddr bound;
	int rc;

	/* What a slot of any module was bound to for that name, if it is this definition. */
	if (scope_bound_slot(&resolver->scope, name, &bound) &&
	    module_at(resolver->modules, bound) == definer->module) {
		*ret_value = bound;
		return 0;
	}
	if (dynsyms_irelative(definer, function, ret_value) ||
	    match_call(resolver->match, sym->name, ret_value))
		return 0;
	rc = safe_call_run(resolver->proc, resolver->modules, &req, 1, err);
	if (rc) {
		uspl_context(err, "cannot ask which '%s' the process uses", name);
		return rc;
	}
	if (!module_at(resolver->modules, (taddr)req.result))
		return uspl_fail(err, USPL_E_UNRESOLVED,
				 "'%s' leads to 0x%" PRIx64 ", where no code is", name,
				 (taddr)req.result);
	*ret_value = (taddr)req.result;
	return 0;
}

/* A thread-local variable of the module itself; where its block lies is known since the match. */
static int own_thread_local(const struct resolver *resolver, const struct objsym *sym, taddr addr,
			    struct symbol_value *ret_value, struct uspl_err *err)
{
	const struct image *image = resolver->image;

	if (!image->tls_offset && !image->tls_id)
		return uspl_fail(
			err, USPL_E_UNRESOLVED,
			"'%s' isn't found: the dynamic linker of pid %d doesn't tell where "
			"it keeps the thread-local variables of '%s'",
			sym->name, resolver->proc->pid, resolver->module->name);
	*ret_value = (struct symbol_value){ .addr = addr,
					    .tls_offset = image->tls_offset,
					    .tls_id = image->tls_id };
	if (resolver->module->is_main)
		ret_value->tls_id = 1;
	return 0;
}

static int resolve_local(struct resolver *resolver, const struct objsym *sym,
			 struct symbol_value *ret_value, struct uspl_err *err)
{
	struct own_names own = own_names_find(resolver->match, sym->name);
	int rc = own_names_require_one(&own, sym->name, resolver->module->name, err);

	if (rc)
		return rc;
	if (own.first->type == STT_GNU_IFUNC)
		return resolve_indirect(resolver, sym, resolver->scope.own, own.first->addr,
					&ret_value->addr, err);
	if (own.first->type == STT_TLS)
		return own_thread_local(resolver, sym, own_names_value(resolver->image, own.first),
					ret_value, err);
	ret_value->addr = own_names_value(resolver->image, own.first);
	return 0;
}

/* A thread-local variable of any module, by its dynamic symbol. */
static int resolve_thread_local(struct resolver *resolver, const struct scope_def *def,
				struct symbol_value *ret_value, struct uspl_err *err)
{
	struct module_tls tls;
	int rc = module_tls_read(resolver->proc, resolver->modules, def->dyn->module, &tls, err);

	if (rc)
		return rc;
	if (!tls.offset && !tls.id)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the dynamic linker of pid %d doesn't tell where it keeps the "
				 "thread-local variables of '%s'",
				 resolver->proc->pid, def->dyn->module->name);
	ret_value->addr = def->sym->st_value + (uint64_t)tls.offset;
	ret_value->tls_offset = tls.offset;
	ret_value->tls_id = tls.id;
	return 0;
}

/*
 * True if the module alone decides: a program's own definition, a library's that isn't exported, or
 * one that the object says to be the module's own (protected, or linked so).
 */
static bool own_definition_counts(const struct resolver *resolver, const struct own_names *own,
				  const struct objsym *sym)
{
	if (own->n != 1)
		return false;
	return resolver->module->is_main || sym->vis != STV_DEFAULT ||
	       !dynsyms_find(resolver->scope.own, sym->name, NULL);
}

/*
 * A weak reference to what no module defines is null, although calls lead to a stub of the module's
 * that would look it up. Without a slot for the dynamic linker such a stub is an indirect
 * function's, which is there.
 */
static bool is_absent(const struct resolver *resolver, const struct objsym *sym, taddr *ret_value)
{
	slot_vec slots = { 0 };
	bool asked = sym->bind == STB_WEAK &&
		     (!dynsyms_slots(resolver->scope.own, sym->name, &slots) || slots.n);

	vec_release(&slots);
	if (asked && !scope_bound_slot(&resolver->scope, sym->name, ret_value))
		*ret_value = 0;
	return asked;
}

static int resolve_global(struct resolver *resolver, const struct objsym *sym,
			  struct symbol_value *ret_value, struct uspl_err *err)
{
	struct own_names own = own_names_find(resolver->match, sym->name);
	struct scope_def def;
	taddr value;

	if (own_definition_counts(resolver, &own, sym))
		return resolve_local(resolver, sym, ret_value, err);
	if (scope_find(&resolver->scope, sym->name, &def)) {
		value = dynsyms_address(def.dyn, def.sym->st_value);
		if (ELF64_ST_TYPE(def.sym->st_info) == STT_GNU_IFUNC)
			return resolve_indirect(resolver, sym, def.dyn, value, &ret_value->addr,
						err);
		if (ELF64_ST_TYPE(def.sym->st_info) == STT_TLS)
			return resolve_thread_local(resolver, &def, ret_value, err);
		ret_value->addr = def.sym->st_shndx == SHN_ABS ? def.sym->st_value : value;
		return 0;
	}
	if (is_absent(resolver, sym, &ret_value->addr) ||
	    match_call(resolver->match, sym->name, &ret_value->addr))
		return 0;
	if (own.n > 1)
		return resolve_local(resolver, sym, ret_value, err);
	if (sym->bind == STB_WEAK)
		return 0;
	/* C++ hands it on with destructors, to tell what is unloaded; a program never is. */
	if (resolver->module->is_main && !strcmp(sym->name, "__dso_handle")) {
		ret_value->addr = resolver->module->start;
		return 0;
	}
	return own_names_fail_nowhere(sym->name, resolver->scope.order.n, resolver->module->name,
				      err);
}

/*
 * Where the library's own code refers to its definition, and the match has found that it does so
 * directly, the library was linked to bind to itself, whatever else it says.
 */
bool resolve_interposed(const struct resolver *resolver, const struct objsym *sym, taddr *ret_value)
{
	struct dynsyms *own = resolver->scope.own;
	struct scope_def def;

	if (resolver->module->is_main || sym->vis != STV_DEFAULT || refname_is_local(sym->name) ||
	    !dynsyms_find(own, sym->name, NULL) || match_refers(resolver->match, sym->name) ||
	    !scope_find(&resolver->scope, sym->name, &def) || def.dyn == own)
		return false;
	*ret_value = dynsyms_address(def.dyn, def.sym->st_value);
	return true;
}

int resolve(struct resolver *resolver, const struct objsym *sym, struct symbol_value *ret_value,
	    struct uspl_err *err)
{
	struct symbol_value value = { 0 };
	taddr other;
	int rc;

	if (match_value(resolver->match, sym->name, &value.addr) &&
	    !resolve_interposed(resolver, sym, &other)) {
		rc = own_names_check(resolver->match, resolver->image, sym->name, value.addr,
				     resolver->module->name, err);
		if (!rc && sym->type == STT_TLS)
			rc = own_thread_local(resolver, sym, value.addr, &value, err);
		/*
		 * The running code may have told the offset from the thread pointer of another
		 * module's variable, too; then nothing is known of the module.
		 */
		if (sym->type == STT_TLS && resolver->image->tls_offset &&
		    !refname_is_local(sym->name) && !own_names_find(resolver->match, sym->name).n)
			value.tls_id = 0;
	} else if (refname_is_local(sym->name)) {
		rc = resolve_local(resolver, sym, &value, err);
	} else {
		rc = resolve_global(resolver, sym, &value, err);
	}
	if (rc)
		return rc;
	*ret_value = value;
	return 0;
}
