// SPDX-License-Identifier: GPL-3.0-or-later
// module_tls.c - where a module's thread-local variables lie in each thread
/*
 * Each thread has a block of variables for each module that has any. The blocks of the program and
 * of the libraries it was started with lie at fixed distances from the thread pointer; that of a
 * library opened later is allocated by __tls_get_addr, which knows the module by a number.
 *
 * Number and distance are private to the dynamic linker. But glibc describes to debuggers where it
 * keeps them (_thread_db_*, for libthread_db: size in bits, count, offset of a member), in every
 * build and every version. Where there is no such description (musl), the module's own relocations
 * tell: what was written for DTPMOD64 is the number, for TPOFF64 a variable's distance.
 */

#include "proc/module_tls.h"

#include <string.h>

#include "image/image_elf.h"
#include "proc/dynsym.h"
#include "proc/linkmap.h"

/* glibc's l_tls_offset of a module without a fixed place: none yet, or never any. */
#define NO_TLS_OFFSET 0ull
#define FORCED_DYNAMIC_TLS_OFFSET (~0ull)
/* No struct link_map is larger. */
enum { LINK_MAP_MAX = 1 << 16 };

/* A member's description for debuggers. */
struct member {
	uint32_t bits, count, offset;
};

static bool is_glibc(const struct module *module)
{
	return module->soname &&
	       (!strcmp(module->soname, "libc.so.6") || !strcmp(module->soname, "libpthread.so.0"));
}

static bool read_member(struct dynsyms *dyn, const char *name, taddr map, uint64_t *ret)
{
	const Elf64_Sym *sym = dynsyms_find(dyn, name, "GLIBC_PRIVATE");
	struct member member;

	return sym &&
	       proc_read_some(dyn->proc, dynsyms_address(dyn, sym->st_value), &member,
			      sizeof(member)) == sizeof(member) &&
	       member.bits == 8 * sizeof(*ret) && member.offset < LINK_MAP_MAX &&
	       proc_read_some(dyn->proc, map + member.offset, ret, sizeof(*ret)) == sizeof(*ret);
}

/* What the dynamic linker itself has noted in its struct link_map. */
static int ask_glibc(const struct proc *proc, const module_vec *modules, taddr map,
		     struct module_tls *tls, struct uspl_err *err)
{
	const struct module *module;

	vec_for_each (modules, module) {
		auto_dynsyms struct dynsyms *dyn = NULL;
		uint64_t id, offset;
		int rc;

		if (!is_glibc(module))
			continue;
		rc = dynsyms_open(proc, module, &dyn, err);
		if (rc)
			return rc;
		if (!read_member(dyn, "_thread_db_link_map_l_tls_modid", map, &id) ||
		    !read_member(dyn, "_thread_db_link_map_l_tls_offset", map, &offset))
			continue;
		tls->id = id;
		if (offset != NO_TLS_OFFSET && offset != FORCED_DYNAMIC_TLS_OFFSET)
			tls->offset = -(int64_t)offset;
		return 0;
	}
	return 0;
}

/* The module's struct link_map, 0 if the process has no list. */
static int find_map(const struct proc *proc, const module_vec *modules, const struct module *module,
		    taddr *ret, struct uspl_err *err)
{
	const struct module *program = module_main(modules);
	auto_dynsyms struct dynsyms *dyn = NULL;
	auto_vec linkmap_vec maps = { 0 };
	struct linkmap *map;
	int rc;

	*ret = 0;
	if (!program)
		return 0;
	rc = dynsyms_open(proc, program, &dyn, err);
	if (rc)
		return rc;
	rc = linkmaps_read(proc, dyn->debug, module->dynamic, &maps, err);
	if (rc)
		return rc;
	vec_for_each (&maps, map)
		if (map->dynamic == module->dynamic)
			*ret = map->addr;
	return 0;
}

/* True if the relocation means the module itself or a variable that it defines. */
static bool is_own(const struct dynsyms *dyn, const Elf64_Rela *rela)
{
	uint32_t index = ELF64_R_SYM(rela->r_info);

	return !index || (index < dyn->n_syms && dyn->syms[index].st_shndx != SHN_UNDEF &&
			  ELF64_ST_BIND(dyn->syms[index].st_info) == STB_LOCAL);
}

static int ask_slots(const struct proc *proc, const struct module *module, struct module_tls *tls,
		     struct uspl_err *err)
{
	auto_dynsyms struct dynsyms *dyn = NULL;
	int rc = dynsyms_open(proc, module, &dyn, err);
	const Elf64_Rela *relas;
	size_t n;

	if (rc)
		return rc;
	relas = dynsyms_relocs(dyn, &n);
	for (size_t i = 0; i < n; i++) {
		uint32_t index = ELF64_R_SYM(relas[i].r_info);
		uint64_t slot, in_block = (uint64_t)relas[i].r_addend;

		if (!is_own(dyn, &relas[i]) ||
		    proc_read_some(proc, dynsyms_address(dyn, relas[i].r_offset), &slot,
				   sizeof(slot)) != sizeof(slot))
			continue;
		in_block += index ? dyn->syms[index].st_value : 0;
		if (ELF64_R_TYPE(relas[i].r_info) == R_X86_64_DTPMOD64)
			tls->id = slot;
		else if (ELF64_R_TYPE(relas[i].r_info) == R_X86_64_TPOFF64)
			tls->offset = (int64_t)(slot - in_block);
	}
	return 0;
}

int module_tls_read(const struct proc *proc, const module_vec *modules, const struct module *module,
		    struct module_tls *ret, struct uspl_err *err)
{
	struct module_tls tls = { 0 };
	taddr map;
	int rc = 0;

	if (module->tls_size && module->is_main) {
		tls.id = 1;
		tls.offset = image_tls_offset(module->tls_size, module->tls_align);
	} else if (module->tls_size) {
		rc = find_map(proc, modules, module, &map, err);
		if (rc)
			return rc;
		if (map) {
			rc = ask_glibc(proc, modules, map, &tls, err);
			if (rc)
				return rc;
		}
		if (!tls.id) {
			rc = ask_slots(proc, module, &tls, err);
			if (rc)
				return rc;
		}
	}
	*ret = tls;
	return 0;
}

int module_tls_note(const struct proc *proc, const module_vec *modules, const struct module *module,
		    struct image *image, struct uspl_err *err)
{
	struct module_tls tls;
	int rc = module_tls_read(proc, modules, module, &tls, err);

	if (rc)
		return rc;
	image->tls_offset = tls.offset;
	image->tls_id = module->is_main ? 0 : tls.id;
	return 0;
}
