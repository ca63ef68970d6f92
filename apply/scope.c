// SPDX-License-Identifier: GPL-3.0-or-later
// scope.c - in which order the dynamic linker looks for a module's symbols
//
// The dynamic linker keeps its modules in a list that the program's DT_DEBUG leads to. It begins
// with the program; then come preloaded libraries, then what the program needs, breadth first;
// libraries opened later are at its end. All but the last are the global scope, which is searched
// first for all modules. A library that was opened later then sees itself and what it needs.
//
// A library that was opened with dlmopen() lies in a name space of its own: another list, which is
// all that it sees. There may be other copies of the same libraries in other lists.
//
// A program without such a list (a static one) is searched in the order of its modules, itself
// first.

#include "apply/scope.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "proc/linkmap.h"

static int append(struct scope *scope, struct dynsyms *dyn, struct uspl_err *err)
{
	struct dynsyms **item;

	for (size_t i = 0; i < scope->order.n; i++)
		if (scope->order.items[i] == dyn)
			return 0;
	item = vec_push(&scope->order);
	if (!item)
		return uspl_fail_nomem(err);
	*item = dyn;
	return 0;
}

static struct dynsyms *main_program(const struct scope *scope)
{
	for (size_t i = 0; i < scope->n_all; i++)
		if (scope->all[i]->module->is_main)
			return scope->all[i];
	return NULL;
}

/* The dynamic linker's list in which the module is. Empty if the program has none. */
static int read_list(struct scope *scope, const struct proc *proc, struct uspl_err *err)
{
	struct dynsyms *program = main_program(scope);
	auto_vec linkmap_vec maps = { 0 };
	struct linkmap *map;
	taddr own = scope->own->module->dynamic;
	int rc = program ? linkmaps_read(proc, program->debug, own, &maps, err) : 0;

	if (rc)
		return rc;
	vec_for_each (&maps, map)
		for (size_t i = 0; i < scope->n_all; i++) {
			const struct module *module = scope->all[i]->module;

			if (module->dynamic != map->dynamic || module->is_vdso)
				continue;
			rc = append(scope, scope->all[i], err);
			if (rc)
				return rc;
			break;
		}
	return 0;
}

static bool is_called(const struct module *module, const char *needed)
{
	return (module->soname && !strcmp(module->soname, needed)) ||
	       !strcmp(module->path, needed) || !strcmp(module->name, file_basename(needed));
}

/*
 * Appends what the modules of the scope from `first` on need, and what these need, breadth first,
 * out of those that are in the list.
 */
static int append_needed(struct scope *scope, size_t first, const dynsyms_list *list,
			 struct uspl_err *err)
{
	for (size_t i = first; i < scope->order.n; i++) {
		const struct dynsyms *dyn = scope->order.items[i];
		int rc = proc_charge(dyn->proc, dyn->needed.n * list->n / 64, 0, err);

		if (rc)
			return rc;
		for (size_t j = 0; j < dyn->needed.n * list->n; j++) {
			struct dynsyms *other = list->items[j % list->n];

			if (is_called(other->module, dyn->needed.items[j / list->n]))
				rc = append(scope, other, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* The global scope, then the module and what it needs. */
static int order_by_list(struct scope *scope, const dynsyms_list *list, struct uspl_err *err)
{
	struct scope startup = { 0 };
	size_t global = 0;
	int rc = append(&startup, list->items[0], err);

	/*
	 * The global scope is as long as up to the last module of the list that the program needs.
	 */
	if (!rc)
		rc = append_needed(&startup, 0, list, err);
	for (size_t i = 0; i < list->n; i++)
		for (size_t j = 0; j < startup.order.n; j++)
			if (list->items[i] == startup.order.items[j])
				global = i + 1;
	vec_release(&startup.order);
	if (rc)
		return rc;
	for (size_t i = 0; i < global; i++) {
		rc = append(scope, list->items[i], err);
		if (rc)
			return rc;
	}
	rc = append(scope, scope->own, err);
	if (rc)
		return rc;
	return append_needed(scope, global, list, err);
}

static int find_order(struct scope *scope, const struct proc *proc, struct uspl_err *err)
{
	struct dynsyms *program = main_program(scope);
	dynsyms_list list;
	int rc = read_list(scope, proc, err);

	if (rc)
		return rc;
	if (!scope->order.n) {
		rc = program ? append(scope, program, err) : 0;
		for (size_t i = 0; !rc && i < scope->n_all; i++)
			if (!scope->all[i]->module->is_vdso)
				rc = append(scope, scope->all[i], err);
		return rc;
	}
	/* In a name space of dlmopen() each module sees all. */
	if (!scope->order.items[0]->module->is_main)
		return 0;
	list = scope->order;
	scope->order = (dynsyms_list){ 0 };
	rc = order_by_list(scope, &list, err);
	vec_release(&list);
	return rc;
}

int scope_init(struct scope *scope, const struct proc *proc, const module_vec *modules,
	       const struct module *module, struct uspl_err *err)
{
	memset(scope, 0, sizeof(*scope));
	scope->all = calloc(modules->n + 1, sizeof(*scope->all));
	if (!scope->all)
		return uspl_fail_nomem(err);
	proc_work_begin(proc);
	for (; scope->n_all < modules->n; scope->n_all++) {
		struct dynsyms **dyn = &scope->all[scope->n_all];
		int rc = dynsyms_open(proc, &modules->items[scope->n_all], dyn, err);

		if (rc)
			return rc;
		/* All of them are kept. */
		rc = proc_charge(proc, 1, dynsyms_bytes(*dyn), err);
		if (rc) {
			scope->n_all++;
			return rc;
		}
	}
	for (size_t i = 0; i < scope->n_all; i++)
		if (scope->all[i]->module == module)
			scope->own = scope->all[i];
	if (!scope->own)
		return uspl_fail(err, USPL_E_BUG, "'%s' is none of the modules", module->name);
	return find_order(scope, proc, err);
}

void scope_release(struct scope *scope)
{
	for (size_t i = 0; i < scope->n_all; i++)
		dynsyms_free(scope->all[i]);
	free(scope->all);
	vec_release(&scope->order);
}

bool scope_find(const struct scope *scope, const char *full_name, struct scope_def *ret)
{
	auto_free char *name = strndup(full_name, strcspn(full_name, "@"));
	const char *version = full_name + strcspn(full_name, "@");

	if (!name)
		return false;
	/*
	 * Which version is meant: the one that the name says itself (f@V1, by .symver), or the one
	 * that the module asks for; NULL: the default one.
	 */
	version = *version ? version + strspn(version, "@")
			   : dynsyms_wanted_version(scope->own, name);
	if (dynsyms_prefers_own(scope->own, name)) {
		ret->dyn = scope->own;
		ret->sym = dynsyms_find(scope->own, name, version);
		if (ret->sym)
			return true;
	}
	for (size_t i = 0; i < scope->order.n; i++) {
		const Elf64_Sym *sym = dynsyms_find(scope->order.items[i], name, version);

		if (!sym)
			continue;
		ret->dyn = scope->order.items[i];
		ret->sym = sym;
		return true;
	}
	return false;
}

bool scope_bound_slot(const struct scope *scope, const char *name, taddr *ret_value)
{
	if (dynsyms_bound_slot(scope->own, name, ret_value))
		return true;
	for (size_t i = 0; i < scope->order.n; i++)
		if (dynsyms_bound_slot(scope->order.items[i], name, ret_value))
			return true;
	return false;
}
