// SPDX-License-Identifier: GPL-3.0-or-later
// dynsym.c - what a module tells the dynamic linker, read from memory
//
// gABI, "Dynamic Linking"; the GNU hash table and symbol versions as in the LSB's "Symbol
// Versioning". No table tells how many symbols there are: DT_HASH has the number, from DT_GNU_HASH
// it follows from its last chain.

#include "proc/dynsym.h"

#include <string.h>

/* More than any library has; what claims more isn't one. */
enum { DYNAMIC_MAX = 512, SYMS_MAX = 1 << 20, STRTAB_MAX = 64 << 20, RELOCS_MAX = 1 << 22 };

static const Elf64_Dyn *entry(const struct dynsyms *dyn, int64_t tag)
{
	for (size_t i = 0; i < dyn->n_dynamic; i++)
		if (dyn->dynamic[i].d_tag == tag)
			return &dyn->dynamic[i];
	return NULL;
}

static uint64_t number(const struct dynsyms *dyn, int64_t tag)
{
	const Elf64_Dyn *item = entry(dyn, tag);

	return item ? item->d_un.d_val : 0;
}

/*
 * glibc relocates the pointers in the dynamic section, musl and the vdso leave them as in the file.
 */
static taddr pointer(const struct dynsyms *dyn, int64_t tag)
{
	const struct module *module = dyn->module;
	const Elf64_Dyn *item = entry(dyn, tag);

	if (!item || !item->d_un.d_ptr)
		return 0;
	if (item->d_un.d_ptr >= module->start && item->d_un.d_ptr < module->end)
		return item->d_un.d_ptr;
	return item->d_un.d_ptr + (uint64_t)module->bias;
}

taddr dynsyms_address(const struct dynsyms *dyn, uint64_t value)
{
	return value + (uint64_t)dyn->module->bias;
}

/* len bytes of the module, NULL if they can't be read or lie elsewhere. The caller frees them. */
static void *read_table(const struct dynsyms *dyn, taddr addr, uint64_t len)
{
	const struct module *module = dyn->module;
	void *table;

	if (!len || addr < module->start || addr >= module->end || len > module->end - addr)
		return NULL;
	table = malloc(len);
	if (table && proc_read_some(dyn->proc, addr, table, len) == len)
		return table;
	free(table);
	return NULL;
}

static const char *string_at(const struct dynsyms *dyn, uint64_t offset)
{
	/* strtab ends with a NUL of ours. */
	return offset < dyn->strtab_len ? dyn->strtab + offset : "";
}

static int read_dynamic(struct dynsyms *dyn, struct uspl_err *err)
{
	taddr at = dyn->module->dynamic;

	dyn->dynamic = calloc(DYNAMIC_MAX, sizeof(*dyn->dynamic));
	if (!dyn->dynamic)
		return uspl_fail_nomem(err);
	while (at && dyn->n_dynamic < DYNAMIC_MAX) {
		Elf64_Dyn *item = &dyn->dynamic[dyn->n_dynamic];

		if (proc_read_some(dyn->proc, at, item, sizeof(*item)) != sizeof(*item) ||
		    item->d_tag == DT_NULL)
			break;
		dyn->n_dynamic++;
		at += sizeof(*item);
	}
	return 0;
}

static int read_needed(struct dynsyms *dyn, struct uspl_err *err)
{
	uint64_t len = number(dyn, DT_STRSZ);
	char *strtab = len < STRTAB_MAX ? read_table(dyn, pointer(dyn, DT_STRTAB), len) : NULL;

	if (!strtab)
		return 0;
	dyn->strtab = strtab;
	dyn->strtab_len = len;
	strtab[len - 1] = '\0';
	for (size_t i = 0; i < dyn->n_dynamic; i++) {
		const char **name;

		if (dyn->dynamic[i].d_tag != DT_NEEDED)
			continue;
		name = vec_push(&dyn->needed);
		if (!name)
			return uspl_fail_nomem(err);
		*name = string_at(dyn, dyn->dynamic[i].d_un.d_val);
	}
	return 0;
}

int dynsyms_open(const struct proc *proc, const struct module *module, struct dynsyms **ret,
		 struct uspl_err *err)
{
	auto_dynsyms struct dynsyms *dyn = calloc(1, sizeof(*dyn));
	int rc;

	if (!dyn)
		return uspl_fail_nomem(err);
	dyn->proc = proc;
	dyn->module = module;
	rc = read_dynamic(dyn, err);
	if (!rc)
		rc = read_needed(dyn, err);
	if (rc)
		return rc;
	dyn->debug = number(dyn, DT_DEBUG);
	*ret = take_ptr(dyn);
	return 0;
}

void dynsyms_free(struct dynsyms *dyn)
{
	if (!dyn)
		return;
	vec_release(&dyn->needed);
	vec_release(&dyn->versions);
	vec_release(&dyn->relocs);
	free(dyn->strtab);
	free(dyn->syms);
	free(dyn->versyms);
	free(dyn->by_name);
	free(dyn->dynamic);
	free(dyn);
}

/*
 * The number of symbols by the GNU hash table: the end of the chain that begins last. 0 if it can't
 * be told.
 */
static size_t count_by_gnu_hash(const struct dynsyms *dyn)
{
	taddr hash = pointer(dyn, DT_GNU_HASH), chains;
	uint32_t header[4], last = 0, link = 0; /* buckets, first symbol, bloom words, shift */
	auto_free uint32_t *buckets = NULL;

	if (!hash || proc_read_some(dyn->proc, hash, header, sizeof(header)) != sizeof(header) ||
	    header[0] > SYMS_MAX || header[2] > SYMS_MAX)
		return 0;
	hash += sizeof(header) + header[2] * sizeof(uint64_t);
	buckets = read_table(dyn, hash, header[0] * sizeof(uint32_t));
	if (!buckets)
		return 0;
	for (uint32_t i = 0; i < header[0]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	if (last < header[1])
		return header[1];
	chains = hash + header[0] * sizeof(uint32_t);
	/* The last one of a chain has its lowest bit set. */
	for (; !(link & 1) && last < SYMS_MAX; last++)
		if (proc_read_some(dyn->proc, chains + (last - header[1]) * sizeof(link), &link,
				   sizeof(link)) != sizeof(link))
			return 0;
	return last;
}

static size_t count_symbols(const struct dynsyms *dyn)
{
	taddr hash = pointer(dyn, DT_HASH);
	uint32_t header[2]; /* buckets, chains: one for each symbol */

	if (hash && proc_read_some(dyn->proc, hash, header, sizeof(header)) == sizeof(header))
		return header[1] < SYMS_MAX ? header[1] : 0;
	return count_by_gnu_hash(dyn);
}

static void set_version(struct dynsyms *dyn, uint16_t index, uint64_t name)
{
	index &= 0x7fff;
	while (dyn->versions.n <= index)
		if (!vec_push(&dyn->versions))
			return;
	dyn->versions.items[index] = string_at(dyn, name);
}

static void read_defined_versions(struct dynsyms *dyn)
{
	taddr at = pointer(dyn, DT_VERDEF);
	uint64_t n = number(dyn, DT_VERDEFNUM);

	for (uint64_t i = 0; at && i < n && i < 0x8000; i++) {
		Elf64_Verdef def;
		Elf64_Verdaux aux;

		if (proc_read_some(dyn->proc, at, &def, sizeof(def)) != sizeof(def) ||
		    proc_read_some(dyn->proc, at + def.vd_aux, &aux, sizeof(aux)) != sizeof(aux))
			return;
		/*
		 * The base version is the module's own name: symbols that have it have no version.
		 */
		if (!(def.vd_flags & VER_FLG_BASE))
			set_version(dyn, def.vd_ndx, aux.vda_name);
		at += def.vd_next;
	}
}

static void read_needed_versions(struct dynsyms *dyn)
{
	taddr at = pointer(dyn, DT_VERNEED);
	uint64_t n = number(dyn, DT_VERNEEDNUM);

	for (uint64_t i = 0; at && i < n && i < 0x8000; i++) {
		Elf64_Verneed need;
		taddr aux_at;

		if (proc_read_some(dyn->proc, at, &need, sizeof(need)) != sizeof(need))
			return;
		aux_at = at + need.vn_aux;
		for (unsigned int j = 0; j < need.vn_cnt; j++) {
			Elf64_Vernaux aux;

			if (proc_read_some(dyn->proc, aux_at, &aux, sizeof(aux)) != sizeof(aux))
				return;
			set_version(dyn, aux.vna_other, aux.vna_name);
			aux_at += aux.vna_next;
		}
		at += need.vn_next;
	}
}

static void read_relocs(struct dynsyms *dyn, int64_t table_tag, int64_t size_tag)
{
	uint64_t len = number(dyn, size_tag);
	auto_free Elf64_Rela *table = len / sizeof(*table) < RELOCS_MAX
					      ? read_table(dyn, pointer(dyn, table_tag), len)
					      : NULL;

	for (size_t i = 0; table && i < len / sizeof(*table); i++) {
		Elf64_Rela *rela;

		/* Only what binds names and indirect functions is asked for. */
		if (ELF64_R_TYPE(table[i].r_info) == R_X86_64_RELATIVE)
			continue;
		rela = vec_push(&dyn->relocs);
		if (!rela)
			return;
		*rela = table[i];
	}
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct dynsyms *dyn = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order =
		strcmp(string_at(dyn, dyn->syms[x].st_name), string_at(dyn, dyn->syms[y].st_name));

	return order ? order : (x > y) - (x < y);
}

/*
 * A GNU hash table knows only the symbols that others may find here. The undefined ones stand in
 * front of these; where there are no others it doesn't tell how many there are. Those that the
 * relocations name are all that matter.
 */
static size_t count_related(const struct dynsyms *dyn)
{
	const Elf64_Rela *rela;
	size_t n = 0;

	vec_for_each (&dyn->relocs, rela)
		if (ELF64_R_SYM(rela->r_info) >= n && ELF64_R_SYM(rela->r_info) < SYMS_MAX)
			n = ELF64_R_SYM(rela->r_info) + 1;
	return n;
}

/*
 * What can't be read is as if it weren't there: the message of whoever misses a symbol tells
 * enough.
 */
static void load(struct dynsyms *dyn)
{
	size_t n, related;

	if (dyn->loaded)
		return;
	dyn->loaded = true;
	read_relocs(dyn, DT_RELA, DT_RELASZ);
	read_relocs(dyn, DT_JMPREL, DT_PLTRELSZ);
	n = count_symbols(dyn);
	related = count_related(dyn);
	n = related > n ? related : n;
	dyn->syms = read_table(dyn, pointer(dyn, DT_SYMTAB), n * sizeof(*dyn->syms));
	dyn->by_name = calloc(n + 1, sizeof(*dyn->by_name));
	if (!dyn->syms || !dyn->by_name)
		return;
	dyn->n_syms = n;
	dyn->versyms = read_table(dyn, pointer(dyn, DT_VERSYM), n * sizeof(*dyn->versyms));
	read_defined_versions(dyn);
	read_needed_versions(dyn);
	for (size_t i = 0; i < n; i++)
		dyn->by_name[i] = (uint32_t)i;
	qsort_r(dyn->by_name, n, sizeof(*dyn->by_name), by_name, dyn);
}

/* The position in by_name of the first symbol of that name; dyn->n_syms if there is none. */
static size_t first_named(struct dynsyms *dyn, const char *name)
{
	size_t low = 0, high;

	load(dyn);
	high = dyn->n_syms;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(string_at(dyn, dyn->syms[dyn->by_name[mid]].st_name), name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool is_named(const struct dynsyms *dyn, size_t at, const char *name)
{
	return at < dyn->n_syms &&
	       !strcmp(string_at(dyn, dyn->syms[dyn->by_name[at]].st_name), name);
}

static bool is_position_independent(const struct dynsyms *dyn)
{
	return dyn->module->bias != 0;
}

static bool is_definition(const struct dynsyms *dyn, const Elf64_Sym *sym)
{
	if (ELF64_ST_BIND(sym->st_info) == STB_LOCAL ||
	    ELF64_ST_VISIBILITY(sym->st_other) == STV_HIDDEN ||
	    ELF64_ST_VISIBILITY(sym->st_other) == STV_INTERNAL)
		return false;
	if (sym->st_shndx != SHN_UNDEF)
		return true;
	return sym->st_value && ELF64_ST_TYPE(sym->st_info) == STT_FUNC && dyn->module->is_main &&
	       !is_position_independent(dyn);
}

static const char *version_of(const struct dynsyms *dyn, uint32_t index)
{
	uint16_t version = dyn->versyms ? dyn->versyms[index] & 0x7fff : 0;

	return version < dyn->versions.n ? dyn->versions.items[version] : NULL;
}

static bool is_hidden_version(const struct dynsyms *dyn, uint32_t index)
{
	return dyn->versyms && (dyn->versyms[index] & 0x8000);
}

const Elf64_Sym *dynsyms_find(struct dynsyms *dyn, const char *name, const char *version)
{
	for (size_t at = first_named(dyn, name); is_named(dyn, at, name); at++) {
		uint32_t index = dyn->by_name[at];
		const char *have = version_of(dyn, index);

		if (!is_definition(dyn, &dyn->syms[index]))
			continue;
		/*
		 * A definition without a version serves who asks for one; a hidden version only who
		 * asks for it.
		 */
		if (version && have ? !strcmp(have, version) : !is_hidden_version(dyn, index))
			return &dyn->syms[index];
	}
	return NULL;
}

const char *dynsyms_wanted_version(struct dynsyms *dyn, const char *name)
{
	for (size_t at = first_named(dyn, name); is_named(dyn, at, name); at++)
		if (dyn->syms[dyn->by_name[at]].st_shndx == SHN_UNDEF)
			return version_of(dyn, dyn->by_name[at]);
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
	       !strcmp(string_at(dyn, dyn->syms[index].st_name), name);
}

bool dynsyms_slots(struct dynsyms *dyn, const char *name, slot_vec *slots)
{
	const Elf64_Rela *rela;

	load(dyn);
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

	load(dyn);
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

	load(dyn);
	vec_for_each (&dyn->relocs, rela)
		if (ELF64_R_TYPE(rela->r_info) == R_X86_64_IRELATIVE &&
		    dynsyms_address(dyn, (uint64_t)rela->r_addend) == resolver)
			return read_slot(dyn, rela, ret_value);
	return false;
}

const Elf64_Rela *dynsyms_relocs(struct dynsyms *dyn, size_t *ret_n)
{
	load(dyn);
	*ret_n = dyn->relocs.n;
	return dyn->relocs.items;
}

bool dynsyms_prefers_own(struct dynsyms *dyn, const char *name)
{
	const Elf64_Sym *sym = dynsyms_find(dyn, name, NULL);

	return sym && sym->st_shndx != SHN_UNDEF &&
	       (ELF64_ST_VISIBILITY(sym->st_other) == STV_PROTECTED || entry(dyn, DT_SYMBOLIC) ||
		number(dyn, DT_FLAGS) & DF_SYMBOLIC);
}
