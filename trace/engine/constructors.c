// SPDX-License-Identifier: GPL-3.0-or-later
// constructors.c - the constructors of a program that hasn't begun, and how long they take

#include "trace/engine/constructors.h"

#include <errno.h>
#include <sys/mman.h>

#include "arch/arch.h"
#include "base/cleanup.h"
#include "inject/inject.h"
#include "inject/rlimits.h"

/* What is found, while it is looked for. */
struct search {
	const struct proc *proc;
	const struct module *module;
	constructor_vec *all;
	size_t more;
};

/* 0 and -1 stood at the ends of such tables once; they aren't called. */
static int add(struct search *search, taddr function, taddr slot, uint64_t bias,
	       struct uspl_err *err)
{
	struct constructor *item;

	if (!function || function == UINT64_MAX)
		return 0;
	if (search->all->n == USPL_CONSTRUCTORS) {
		search->more++;
		return 0;
	}
	item = vec_push(search->all);
	if (!item)
		return uspl_fail_nomem(err);
	*item = (struct constructor){ search->module, function, slot, bias };
	return 0;
}

/* What lies outside the module isn't a table of its constructors. */
static int add_table(struct search *search, taddr start, uint64_t len, struct uspl_err *err)
{
	const struct module *module = search->module;
	auto_free uint64_t *table = NULL;
	int rc;

	if (start < module->start || start > module->end || len > module->end - start)
		return 0;
	table = malloc(len + sizeof(*table));
	if (!table)
		return uspl_fail_nomem(err);
	rc = proc_read(search->proc, start, table, len, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < len / sizeof(*table); i++) {
		rc = add(search, table[i], start + i * sizeof(*table), 0, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* The entry of that tag, the last one if there are several; NULL if there is none. */
static const Elf64_Dyn *find_tag(const Elf64_Dyn *dynamic, size_t n, Elf64_Sxword tag)
{
	while (n-- > 0)
		if (dynamic[n].d_tag == tag)
			return &dynamic[n];
	return NULL;
}

static int add_module(struct search *search, struct uspl_err *err)
{
	static const Elf64_Sxword tables[][2] = { { DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ },
						  { DT_INIT_ARRAY, DT_INIT_ARRAYSZ } };
	const struct module *module = search->module;
	uint64_t bias = (uint64_t)module->bias;
	auto_free Elf64_Dyn *dynamic = NULL;
	const Elf64_Dyn *init;
	size_t n;
	int rc = module_dynamic(search->proc, module, &dynamic, &n, err);

	if (rc)
		return rc;
	init = find_tag(dynamic, n, DT_INIT);
	if (init) {
		rc = add(search, init->d_un.d_ptr + bias,
			 module->dynamic +
				 (taddr)((const uint8_t *)&init->d_un - (const uint8_t *)dynamic),
			 bias, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		const Elf64_Dyn *at = find_tag(dynamic, n, tables[i][0]);
		const Elf64_Dyn *len = find_tag(dynamic, n, tables[i][1]);

		if (at && len) {
			rc = add_table(search, at->d_un.d_ptr + bias, len->d_un.d_val, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

int constructors_find(const struct proc *proc, const module_vec *modules, constructor_vec *ret,
		      size_t *ret_more, struct uspl_err *err)
{
	auto_vec constructor_vec all = { 0 };
	struct search search = { .proc = proc, .all = &all };
	int rc;

	vec_for_each (modules, search.module) {
		if (search.module->is_vdso)
			continue;
		rc = add_module(&search, err);
		if (rc)
			return rc;
	}
	*ret = all;
	all = (constructor_vec){ 0 };
	*ret_more = search.more;
	return 0;
}

static int fail_map(const struct proc *proc, int64_t result, struct uspl_err *err)
{
	int rc;

	errno = (int)-result;
	rc = uspl_fail_errno(err, "cannot map memory in pid %d", proc->pid);
	rlimits_hint(proc, -result, err);
	return rc;
}

/* Room for code, and behind it for the table: never for both at once, which some kernels refuse. */
static int map(const struct proc *proc, taddr *ret, struct uspl_err *err)
{
	struct inject_req code =
		inject_mmap(0, USPL_CONSTRUCTOR_LEN, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	struct inject_req table;
	size_t done;
	int rc = inject_run(proc, &code, 1, &done, err);

	if (rc)
		return rc;
	if (code.result < 0)
		return fail_map(proc, code.result, err);
	table = inject_mmap((taddr)code.result + USPL_CONSTRUCTOR_TABLE,
			    USPL_CONSTRUCTOR_LEN - USPL_CONSTRUCTOR_TABLE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_FIXED);
	rc = inject_run(proc, &table, 1, &done, err);
	if (rc)
		return rc;
	if (table.result < 0)
		return fail_map(proc, table.result, err);
	*ret = (taddr)code.result;
	return 0;
}

int constructors_time(const struct proc *proc, const constructor_vec *all, taddr *ret_at,
		      struct uspl_err *err)
{
	auto_free struct uspl_constructor *table = NULL;
	size_t code_len;
	const uint8_t *code = arch_native()->constructor_code(&code_len);
	taddr at = 0;
	int rc = map(proc, &at, err);

	if (rc)
		return rc;
	rc = proc_write(proc, at, code, code_len, err);
	if (rc)
		return rc;
	table = calloc(all->n + 1, sizeof(*table));
	if (!table)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < all->n; i++)
		table[i].function = all->items[i].function;
	rc = proc_write(proc, at + USPL_CONSTRUCTOR_TABLE, table, all->n * sizeof(*table), err);
	if (rc)
		return rc;
	for (size_t i = 0; i < all->n; i++) {
		const struct constructor *item = &all->items[i];
		uint64_t value =
			at + USPL_CONSTRUCTOR_THUNKS + i * USPL_CONSTRUCTOR_THUNK - item->bias;

		rc = proc_write(proc, item->slot, &value, sizeof(value), err);
		if (rc)
			return rc;
	}
	*ret_at = at;
	return 0;
}

int constructors_read(const struct proc *proc, const constructor_vec *all, taddr at,
		      struct uspl_constructor *ret, struct uspl_err *err)
{
	size_t len = all->n * sizeof(*ret);
	bool is_there = proc_read_some(proc, at + USPL_CONSTRUCTOR_TABLE, ret, len) == len;

	for (size_t i = 0; is_there && i < all->n; i++)
		is_there = ret[i].function == all->items[i].function;
	return is_there ? 0
			: uspl_fail(err, USPL_E_NOT_APPLIED,
				    "what was taken of constructors is not in pid %d", proc->pid);
}
