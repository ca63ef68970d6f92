// SPDX-License-Identifier: GPL-3.0-or-later
// dynsym.c - what a module tells the dynamic linker: the look-ups

#include "proc/dynsym.h"

#include <string.h>

#define NAMES_MAX (1ull << 30)

taddr dynsyms_address(const struct dynsyms *dyn, uint64_t value)
{
	return value + (uint64_t)dyn->module->bias;
}

const char *dynsyms_string(const struct dynsyms *dyn, uint64_t offset)
{
	/* strtab ends with a NUL of ours. */
	return offset < dyn->strtab_len ? dyn->strtab + offset : "";
}

uint64_t dynsyms_bytes(const struct dynsyms *dyn)
{
	/* Each symbol has a version, and two links of the index. */
	uint64_t symbol = sizeof(*dyn->syms) + sizeof(*dyn->versyms) + 2 * sizeof(*dyn->next);

	return dyn->strtab_len + dyn->n_syms * symbol + dyn->relocs.n * sizeof(*dyn->relocs.items) +
	       dyn->versions.n * sizeof(*dyn->versions.items) +
	       dyn->n_dynamic * sizeof(*dyn->dynamic);
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381; /* as in DT_GNU_HASH; any would do */

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

/*
 * Done only once a name is asked for. Symbols of one name are found in their order: the last one is
 * put in first. Names may share their bytes: once they are longer together than any library's, the
 * rest isn't found.
 */
static void index_names(struct dynsyms *dyn)
{
	uint64_t left = NAMES_MAX;

	if (dyn->indexed)
		return;
	dyn->indexed = true;
	for (size_t i = dyn->n_syms; i-- > 0;) {
		const char *name = dynsyms_string(dyn, dyn->syms[i].st_name);
		size_t len = strlen(name);
		uint32_t *first;

		if (len >= left)
			return;
		left -= len;
		first = &dyn->first[hash_of(name) & dyn->hash_mask];
		dyn->next[i] = *first;
		*first = (uint32_t)i + 1;
	}
}

/* The next symbol of that name from a link on, 0 if there is none: an index, plus 1. */
static uint32_t next_named(const struct dynsyms *dyn, uint32_t link, const char *name)
{
	while (link && strcmp(dynsyms_string(dyn, dyn->syms[link - 1].st_name), name))
		link = dyn->next[link - 1];
	return link;
}

static uint32_t first_named(struct dynsyms *dyn, const char *name)
{
	if (!dyn->n_syms)
		return 0;
	index_names(dyn);
	return next_named(dyn, dyn->first[hash_of(name) & dyn->hash_mask], name);
}

static bool is_definition(const struct dynsyms *dyn, const Elf64_Sym *sym)
{
	if (ELF64_ST_BIND(sym->st_info) == STB_LOCAL ||
	    ELF64_ST_VISIBILITY(sym->st_other) == STV_HIDDEN ||
	    ELF64_ST_VISIBILITY(sym->st_other) == STV_INTERNAL)
		return false;
	if (sym->st_shndx != SHN_UNDEF)
		return true;
	/* A program at a fixed place may have a stub whose address stands for the function's. */
	return sym->st_value && ELF64_ST_TYPE(sym->st_info) == STT_FUNC && dyn->module->is_main &&
	       !dyn->module->bias;
}

static const char *version_of(const struct dynsyms *dyn, uint32_t index)
{
	uint16_t version = dyn->versyms ? dyn->versyms[index] & 0x7fff : 0;

	return version < dyn->versions.n ? dyn->versions.items[version] : NULL;
}

const Elf64_Sym *dynsyms_find(struct dynsyms *dyn, const char *name, const char *version)
{
	enum { HIDDEN = 0x8000 }; /* among a version's bits */

	for (uint32_t link = first_named(dyn, name); link;
	     link = next_named(dyn, dyn->next[link - 1], name)) {
		uint32_t index = link - 1;
		const char *have = version_of(dyn, index);

		if (!is_definition(dyn, &dyn->syms[index]))
			continue;
		/*
		 * A definition without a version serves a caller that asks for one; a hidden
		 * version only a caller that asks for it.
		 */
		if (version && have ? !strcmp(have, version)
				    : !dyn->versyms || !(dyn->versyms[index] & HIDDEN))
			return &dyn->syms[index];
	}
	return NULL;
}

const char *dynsyms_wanted_version(struct dynsyms *dyn, const char *name)
{
	for (uint32_t link = first_named(dyn, name); link;
	     link = next_named(dyn, dyn->next[link - 1], name))
		if (dyn->syms[link - 1].st_shndx == SHN_UNDEF)
			return version_of(dyn, link - 1);
	return NULL;
}

static bool read_slot(const struct dynsyms *dyn, const Elf64_Rela *rela, taddr *ret_value)
{
	taddr value;

	if (proc_read_some(dyn->proc, dynsyms_address(dyn, rela->r_offset), &value,
			   sizeof(value)) != sizeof(value) ||
	    !value)
		return false;
	*ret_value = value;
	return true;
}

/* True if the relocation fills a slot for an imported symbol of that name. */
static bool is_slot_of(const struct dynsyms *dyn, const Elf64_Rela *rela, const char *name)
{
	uint32_t type = ELF64_R_TYPE(rela->r_info), index = ELF64_R_SYM(rela->r_info);

	return (type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT) && index < dyn->n_syms &&
	       !strcmp(dynsyms_string(dyn, dyn->syms[index].st_name), name);
}

bool dynsyms_slots(struct dynsyms *dyn, const char *name, slot_vec *slots)
{
	const Elf64_Rela *rela;

	vec_for_each (&dyn->relocs, rela) {
		taddr *slot = is_slot_of(dyn, rela, name) ? vec_push(slots) : NULL;

		if (slot)
			*slot = dynsyms_address(dyn, rela->r_offset);
		else if (is_slot_of(dyn, rela, name))
			return false;
	}
	return true;
}

bool dynsyms_bound_slot(struct dynsyms *dyn, const char *name, taddr *ret_value)
{
	const Elf64_Rela *rela;

	vec_for_each (&dyn->relocs, rela) {
		taddr value;

		if (!is_slot_of(dyn, rela, name) || !read_slot(dyn, rela, &value))
			continue;
		/* Until the first call it leads back into the module's own linkage table. */
		if (ELF64_R_TYPE(rela->r_info) == R_X86_64_JUMP_SLOT &&
		    value >= dyn->module->start && value < dyn->module->end)
			continue;
		*ret_value = value;
		return true;
	}
	return false;
}

bool dynsyms_irelative(struct dynsyms *dyn, taddr resolver, taddr *ret_value)
{
	const Elf64_Rela *rela;

	vec_for_each (&dyn->relocs, rela)
		if (ELF64_R_TYPE(rela->r_info) == R_X86_64_IRELATIVE &&
		    dynsyms_address(dyn, (uint64_t)rela->r_addend) == resolver)
			return read_slot(dyn, rela, ret_value);
	return false;
}

const Elf64_Rela *dynsyms_relocs(struct dynsyms *dyn, size_t *ret_n)
{
	*ret_n = dyn->relocs.n;
	return dyn->relocs.items;
}

bool dynsyms_prefers_own(struct dynsyms *dyn, const char *name)
{
	const Elf64_Sym *sym = dynsyms_find(dyn, name, NULL);

	return sym && sym->st_shndx != SHN_UNDEF &&
	       (ELF64_ST_VISIBILITY(sym->st_other) == STV_PROTECTED || dyn->symbolic);
}
