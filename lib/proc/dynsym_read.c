// SPDX-License-Identifier: GPL-3.0-or-later
// dynsym_read.c - what a module tells the dynamic linker, read from memory
//
// gABI, "Dynamic Linking"; the GNU hash table and symbol versions as in the LSB's "Symbol
// Versioning". No table tells how many symbols there are: DT_HASH has the number, with DT_GNU_HASH
// it follows from the last chain.

#include "proc/dynsym.h"

#include <string.h>

/* More than any library has; what claims more isn't one. */
enum { SYMS_MAX = 1 << 20, STRTAB_MAX = 64 << 20, RELOCS_MAX = 1 << 22 };
/* Of all libraries that it needs together: lists of them may lead in circles. */
enum { VERSIONS_MAX = 0x8000 };

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

/* Versions are lists of small entries, one behind the other: they are read by the page. */
#define SMALL 64
#define OPEN_TRIES 4
struct dynsyms_page {
	taddr addr; /* 0: nothing has been read */
	uint8_t bytes[PAGE];
};

/* Reads from the page that was read last, or that is read as a whole now. False: not possible. */
static bool read_small(const struct dynsyms *dyn, taddr addr, void *buf, uint64_t len)
{
	taddr page = addr & ~(PAGE - 1);
	int rc;

	if (!dyn->page || len > SMALL || addr + len > page + PAGE)
		return false;
	if (dyn->page->addr != page) {
		bool there = false;

		dyn->page->addr = 0;
		/* Constants, as long as the module is there. */
		rc = dyn->module->lasting
			     ? proc_read_once(dyn->proc, page, dyn->page->bytes, PAGE, &there, NULL)
			     : proc_read_if_mapped(dyn->proc, page, dyn->page->bytes, PAGE, &there,
						   NULL);
		if (rc || !there)
			return false;
		dyn->page->addr = page;
	}
	memcpy(buf, dyn->page->bytes + (addr - page), len);
	return true;
}

/* len bytes of the module; *ret_there is false if they lie elsewhere. */
static int read_part(const struct dynsyms *dyn, taddr addr, void *buf, uint64_t len,
		     bool *ret_there, struct uspl_err *err)
{
	const struct module *module = dyn->module;

	*ret_there = false;
	if (addr < module->start || addr >= module->end || len > module->end - addr)
		return 0;
	*ret_there = read_small(dyn, addr, buf, len);
	return *ret_there ? 0 : proc_read_if_mapped(dyn->proc, addr, buf, len, ret_there, err);
}

/* The same, allocated: *ret is NULL if they lie elsewhere. The caller frees it. */
static int read_table(const struct dynsyms *dyn, taddr addr, uint64_t len, void **ret,
		      struct uspl_err *err)
{
	const struct module *module = dyn->module;
	auto_free void *table = NULL;
	bool there = false;
	int rc;

	*ret = NULL;
	if (!len || addr < module->start || addr >= module->end || len > module->end - addr)
		return 0;
	table = malloc(len);
	if (!table)
		return uspl_fail_nomem(err);
	rc = read_part(dyn, addr, table, len, &there, err);
	if (rc)
		return rc;
	if (there)
		*ret = take_ptr(table);
	return 0;
}

static int read_needed(struct dynsyms *dyn, struct uspl_err *err)
{
	uint64_t len = number(dyn, DT_STRSZ);
	void *strtab = NULL;
	int rc = len < STRTAB_MAX ? read_table(dyn, pointer(dyn, DT_STRTAB), len, &strtab, err) : 0;

	if (!strtab)
		return rc;
	dyn->strtab = strtab;
	dyn->strtab_len = len;
	dyn->strtab[len - 1] = '\0';
	for (size_t i = 0; i < dyn->n_dynamic; i++) {
		const char **name;

		if (dyn->dynamic[i].d_tag != DT_NEEDED)
			continue;
		name = vec_push(&dyn->needed);
		if (!name)
			return uspl_fail_nomem(err);
		*name = dynsyms_string(dyn, dyn->dynamic[i].d_un.d_val);
	}
	return 0;
}

/*
 * The number of symbols by the GNU hash table: the end of the chain that begins last. 0 if it can't
 * be told.
 */
static int count_by_gnu_hash(const struct dynsyms *dyn, size_t *ret, struct uspl_err *err)
{
	struct {
		uint32_t buckets, first, bloom_words, shift;
	} header;
	taddr hash = pointer(dyn, DT_GNU_HASH);
	auto_free void *buckets = NULL;
	uint32_t last = 0, link = 0;
	bool there;
	int rc = read_part(dyn, hash, &header, sizeof(header), &there, err);

	*ret = 0;
	if (rc || !there || header.buckets > SYMS_MAX || header.bloom_words > SYMS_MAX)
		return rc;
	hash += sizeof(header) + header.bloom_words * sizeof(uint64_t);
	rc = read_table(dyn, hash, header.buckets * sizeof(uint32_t), &buckets, err);
	if (!buckets)
		return rc;
	for (uint32_t i = 0; i < header.buckets; i++)
		last = ((uint32_t *)buckets)[i] > last ? ((uint32_t *)buckets)[i] : last;
	if (last < header.first) {
		*ret = header.first;
		return 0;
	}
	/* The last one of a chain has its lowest bit set. */
	hash += header.buckets * sizeof(uint32_t);
	for (; !(link & 1) && last < SYMS_MAX; last++) {
		rc = read_part(dyn, hash + (last - header.first) * sizeof(link), &link,
			       sizeof(link), &there, err);
		if (rc || !there)
			return rc;
	}
	*ret = last;
	return 0;
}

static int set_version(struct dynsyms *dyn, uint16_t index, uint64_t name, struct uspl_err *err)
{
	index &= 0x7fff;
	while (dyn->versions.n <= index)
		if (!vec_push(&dyn->versions))
			return uspl_fail_nomem(err);
	dyn->versions.items[index] = dynsyms_string(dyn, name);
	return 0;
}

static int read_defined_versions(struct dynsyms *dyn, struct uspl_err *err)
{
	taddr at = pointer(dyn, DT_VERDEF);
	uint64_t n = number(dyn, DT_VERDEFNUM);
	int rc = 0;

	for (uint64_t i = 0; at && i < n && i < VERSIONS_MAX; i++) {
		Elf64_Verdef def;
		Elf64_Verdaux aux;
		bool there;

		rc = read_part(dyn, at, &def, sizeof(def), &there, err);
		if (rc)
			return rc;
		if (there) {
			rc = read_part(dyn, at + def.vd_aux, &aux, sizeof(aux), &there, err);
			if (rc)
				return rc;
		}
		if (!there)
			break;
		/*
		 * The base version is the module's own name: symbols that have it have no version.
		 */
		if (!(def.vd_flags & VER_FLG_BASE))
			rc = set_version(dyn, def.vd_ndx, aux.vda_name, err);
		at += def.vd_next;
		if (rc)
			return rc;
	}
	return 0;
}

/* The versions that are asked for of one library. *left: how many there may still be. */
static int read_needed_of(struct dynsyms *dyn, taddr at, unsigned int n, unsigned int *left,
			  struct uspl_err *err)
{
	int rc = 0;

	for (; n && *left; n--, --*left) {
		Elf64_Vernaux aux;
		bool there;

		rc = read_part(dyn, at, &aux, sizeof(aux), &there, err);
		if (rc)
			return rc;
		if (!there)
			break;
		rc = set_version(dyn, aux.vna_other, aux.vna_name, err);
		at += aux.vna_next;
		if (rc)
			return rc;
	}
	return 0;
}

static int read_needed_versions(struct dynsyms *dyn, struct uspl_err *err)
{
	taddr at = pointer(dyn, DT_VERNEED);
	uint64_t n = number(dyn, DT_VERNEEDNUM);
	unsigned int left = VERSIONS_MAX;
	int rc = 0;

	for (uint64_t i = 0; at && i < n && i < VERSIONS_MAX && left; i++) {
		Elf64_Verneed need;
		bool there;

		rc = read_part(dyn, at, &need, sizeof(need), &there, err);
		if (rc)
			return rc;
		if (!there)
			break;
		rc = read_needed_of(dyn, at + need.vn_aux, need.vn_cnt, &left, err);
		at += need.vn_next;
		if (rc)
			return rc;
	}
	return 0;
}

static int read_relocs(struct dynsyms *dyn, int64_t table_tag, int64_t size_tag,
		       struct uspl_err *err)
{
	size_t n = number(dyn, size_tag) / sizeof(Elf64_Rela);
	auto_free void *table = NULL;
	const Elf64_Rela *relas;
	int rc = n < RELOCS_MAX
			 ? read_table(dyn, pointer(dyn, table_tag), n * sizeof(*relas), &table, err)
			 : 0;

	relas = table;
	for (size_t i = 0; relas && i < n; i++) {
		Elf64_Rela *rela;

		/* Only what binds names and indirect functions is asked for. */
		if (ELF64_R_TYPE(relas[i].r_info) == R_X86_64_RELATIVE)
			continue;
		rela = vec_push(&dyn->relocs);
		if (!rela)
			return uspl_fail_nomem(err);
		*rela = relas[i];
	}
	return rc;
}

static int read_symbols(struct dynsyms *dyn, struct uspl_err *err)
{
	const Elf64_Rela *rela;
	size_t n = 0;
	void *syms = NULL, *versyms = NULL;
	uint32_t header[2]; /* buckets, chains: one for each symbol */
	bool there;
	int rc = read_part(dyn, pointer(dyn, DT_HASH), header, sizeof(header), &there, err);

	if (rc)
		return rc;
	if (there)
		n = header[1] < SYMS_MAX ? header[1] : 0;
	else
		rc = count_by_gnu_hash(dyn, &n, err);
	if (rc)
		return rc;
	/*
	 * A GNU hash table knows only the symbols that others may find here. The undefined ones
	 * stand in front of these; where there are no others, the table doesn't tell how many there
	 * are. Only those that the relocations name matter.
	 */
	vec_for_each (&dyn->relocs, rela)
		if (ELF64_R_SYM(rela->r_info) >= n && ELF64_R_SYM(rela->r_info) < SYMS_MAX)
			n = ELF64_R_SYM(rela->r_info) + 1;
	rc = read_table(dyn, pointer(dyn, DT_SYMTAB), n * sizeof(*dyn->syms), &syms, err);
	dyn->syms = syms;
	if (rc || !syms)
		return rc;
	dyn->n_syms = n;
	rc = read_table(dyn, pointer(dyn, DT_VERSYM), n * sizeof(*dyn->versyms), &versyms, err);
	dyn->versyms = versyms;
	while (dyn->hash_mask < n)
		dyn->hash_mask = dyn->hash_mask * 2 + 1;
	dyn->first = calloc((size_t)dyn->hash_mask + 1, sizeof(*dyn->first));
	dyn->next = calloc(n + 1, sizeof(*dyn->next));
	if (rc)
		return rc;
	if (!dyn->first || !dyn->next)
		return uspl_fail_nomem(err);
	return 0;
}

static int read_all(struct dynsyms *dyn, struct uspl_err *err)
{
	int rc = module_dynamic(dyn->proc, dyn->module, &dyn->dynamic, &dyn->n_dynamic, err);

	if (rc)
		return rc;
	rc = read_needed(dyn, err);
	if (rc)
		return rc;
	rc = read_relocs(dyn, DT_RELA, DT_RELASZ, err);
	if (rc)
		return rc;
	rc = read_relocs(dyn, DT_JMPREL, DT_PLTRELSZ, err);
	if (rc)
		return rc;
	rc = read_symbols(dyn, err);
	if (rc)
		return rc;
	rc = read_defined_versions(dyn, err);
	if (rc)
		return rc;
	rc = read_needed_versions(dyn, err);
	if (rc)
		return rc;
	dyn->debug = number(dyn, DT_DEBUG);
	dyn->symbolic = entry(dyn, DT_SYMBOLIC) || number(dyn, DT_FLAGS) & DF_SYMBOLIC;
	return 0;
}

/* there: false for a module without anything. */
static int open_once(const struct proc *proc, const struct module *module, bool there,
		     struct dynsyms **ret, struct uspl_err *err)
{
	auto_dynsyms struct dynsyms *dyn = calloc(1, sizeof(*dyn));
	int rc;

	if (!dyn)
		return uspl_fail_nomem(err);
	dyn->proc = proc;
	dyn->module = module;
	dyn->users = 1;
	dyn->page = calloc(1, sizeof(*dyn->page));
	if (!dyn->page)
		return uspl_fail_nomem(err);
	rc = there ? read_all(dyn, err) : 0;
	if (rc)
		return rc;
	free(dyn->page);
	dyn->page = NULL;
	*ret = take_ptr(dyn);
	return 0;
}

int dynsyms_open(const struct proc *proc, const struct module *module, struct dynsyms **ret,
		 struct uspl_err *err)
{
	struct module_tables *tables = module->tables;
	struct uspl_err why = { 0 };
	int rc = 0;

	if (tables && tables->dynsyms) {
		tables->dynsyms->users++;
		*ret = tables->dynsyms;
		return 0;
	}
	/* A library that is there again by the time that we look is read again, a few times. */
	for (int i = 0; i < OPEN_TRIES; i++) {
		rc = open_once(proc, module, true, ret, &why);
		if (rc != -USPL_E_SYSTEM || module_is_gone(proc, module))
			break;
	}
	if (rc == -USPL_E_SYSTEM && !module->lasting)
		return open_once(proc, module, false, ret, err);
	if (rc && err)
		*err = why;
	if (rc || !tables)
		return rc;
	(*ret)->users++;
	*tables = (struct module_tables){ *ret, dynsyms_free };
	return 0;
}

void dynsyms_free(struct dynsyms *dyn)
{
	if (!dyn || --dyn->users)
		return;
	vec_release(&dyn->needed);
	vec_release(&dyn->versions);
	vec_release(&dyn->relocs);
	free(dyn->strtab);
	free(dyn->syms);
	free(dyn->versyms);
	free(dyn->first);
	free(dyn->next);
	free(dyn->page);
	free(dyn->dynamic);
	free(dyn);
}
