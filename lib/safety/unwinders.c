// SPDX-License-Identifier: GPL-3.0-or-later
// unwinders.c - the code by which a program unwinds its own stacks

#include "safety/unwinders.h"

#include <string.h>

#include "proc/dynsym.h"

/*
 * What an unwinder defines: that of libgcc and of LLVM (Itanium C++ ABI, "Level 1"), and
 * libunwind's own.
 */
static const char *const defined[] = { "_Unwind_Backtrace", "_Unwind_RaiseException", "unw_step",
				       "_ULx86_64_step" };
/* The functions by which any of them finds the call frame information of modules. */
static const char *const asked[] = { "dl_iterate_phdr", "_dl_find_object" };

static int add(unwinder_code_vec *codes, taddr start, taddr end, struct uspl_err *err)
{
	struct unwinder_code *code = vec_push(codes);

	if (!code)
		return uspl_fail_nomem(err);
	*code = (struct unwinder_code){ start, end };
	return 0;
}

/* A static program has its unwinder, if it has one, inside; only its symbol table knows where. */
static int add_static(const struct proc *proc, const struct module *module,
		      unwinder_code_vec *codes, struct uspl_err *err)
{
	struct image *image;
	const struct image_sym *sym;
	int rc = module_image(proc, module, &image, err);

	if (rc)
		return rc;
	if (!image->syms.n)
		rc = add(codes, module->start, module->end, err);
	vec_for_each (&image->syms, sym)
		if (!rc && !strncmp(sym->name, "_Unwind_", strlen("_Unwind_")))
			rc = add(codes, sym->addr, sym->addr + sym->size, err);
	image_free(image);
	return rc;
}

static int look_into(const struct proc *proc, const struct module *module, unwinder_code_vec *codes,
		     struct uspl_err *err)
{
	auto_dynsyms struct dynsyms *dyn = NULL;
	auto_vec slot_vec slots = { 0 };
	const Elf64_Sym *sym;
	bool has = false;
	int rc = dynsyms_open(proc, module, &dyn, err);

	if (rc)
		return rc;
	if (!dyn->n_syms)
		return add_static(proc, module, codes, err);
	/* It has an unwinder, as far as its dynamic symbols tell. */
	for (size_t i = 0; i < ARRAY_SIZE(defined); i++) {
		sym = dynsyms_find(dyn, defined[i], NULL);
		has |= sym && sym->st_shndx != SHN_UNDEF;
	}
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++)
		if (!dynsyms_slots(dyn, asked[i], &slots))
			return uspl_fail_nomem(err);
	return has || slots.n ? add(codes, module->start, module->end, err) : 0;
}

int unwinders_find(const struct proc *proc, const module_vec *modules, unwinder_code_vec *ret,
		   struct uspl_err *err)
{
	unwinder_code_vec codes = { 0 };
	const struct module *module;
	int rc = 0;

	vec_for_each (modules, module)
		if (!rc && !module->is_vdso)
			rc = look_into(proc, module, &codes, err);
	if (rc)
		vec_release(&codes);
	else
		*ret = codes;
	return rc;
}

bool unwinders_have(const unwinder_code_vec *codes, taddr pc)
{
	const struct unwinder_code *code;

	vec_for_each (codes, code)
		if (pc >= code->start && pc < code->end)
			return true;
	return false;
}
