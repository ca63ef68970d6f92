// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * objfile_read.c - from the bytes of a relocatable ELF file to the graph
 *
 * libelf finds the tables and checks that they lie within the file; what they say is checked
 * here: every index, offset and name that leads from one part to another is looked at before it
 * becomes a pointer. A file may be cut short, damaged, or made by an attacker, and ends in a
 * message in each case.
 *
 * In the graph there are no sections for tables (.symtab, .strtab, .rela.*, SHT_GROUP): what they
 * tell is in the pointers.
 */

#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "objfile/arena.h"
#include "objfile/objfile.h"

struct reader {
	struct objfile *obj;
	Elf *elf;
	size_t n_secs;        /* the file's section headers */
	struct objsec **secs; /* by the file's index; NULL for tables */
	size_t n_syms;
	struct objsym **syms; /* by the file's index */
	size_t symtab;        /* section index, 0 if none */
	size_t shstr;         /* section index of the sections' names */
	uint64_t names;       /* how many bytes names may still have */
	bool no_debug;        /* debugging information is left out */
	struct uspl_err *err;
};

static int damaged(struct reader *r, const char *what)
{
	return uspl_fail(r->err, USPL_E_FILE, "'%s' is damaged: %s", r->obj->name, what);
}

static int check_kind(struct reader *r)
{
	GElf_Ehdr ehdr;

	if (elf_kind(r->elf) != ELF_K_ELF || !gelf_getehdr(r->elf, &ehdr))
		return uspl_fail(r->err, USPL_E_FORMAT, "'%s' is not an ELF file", r->obj->name);
	if (ehdr.e_ident[EI_CLASS] != ELFCLASS64 || ehdr.e_ident[EI_DATA] != ELFDATA2LSB ||
	    ehdr.e_machine != EM_X86_64)
		return uspl_fail(
			r->err, USPL_E_FORMAT,
			"'%s' is for another architecture (ELF machine %u), not for x86-64",
			r->obj->name, ehdr.e_machine);
	if (ehdr.e_type != ET_REL)
		return uspl_fail(r->err, USPL_E_FORMAT, "'%s' is not a relocatable object",
				 r->obj->name);
	if (elf_getshdrnum(r->elf, &r->n_secs) || elf_getshdrstrndx(r->elf, &r->shstr))
		return damaged(r, "it has no usable section table");
	return 0;
}

/*
 * Names may share their bytes, and each is copied: a file that lets 100,000 of them share one
 * string would become a thousand times as large. NULL as if it lay outside the table.
 */
static const char *string(struct reader *r, size_t strtab, size_t offset)
{
	const char *name = elf_strptr(r->elf, strtab, offset);
	size_t len = name ? strlen(name) + 1 : 0;

	if (len > r->names)
		return NULL;
	r->names -= len;
	return name;
}

static bool is_table(uint32_t type)
{
	return type == SHT_SYMTAB || type == SHT_STRTAB || type == SHT_RELA || type == SHT_GROUP ||
	       type == SHT_SYMTAB_SHNDX || type == SHT_NULL;
}

bool objsec_is_debug(const struct objsec *sec)
{
	return !(sec->flags & SHF_ALLOC) &&
	       (!strncmp(sec->name, ".debug_", 7) || !strncmp(sec->name, ".zdebug_", 8));
}

static int read_section(struct reader *r, size_t index, const GElf_Shdr *shdr)
{
	const char *name = string(r, r->shstr, shdr->sh_name);
	const Elf_Data *data;
	struct objsec *sec;
	Elf_Scn *scn;

	if (!name)
		return damaged(
			r, "the sections' names don't lie in the string table, or are too long");
	if (shdr->sh_addralign & (shdr->sh_addralign - 1))
		return damaged(r, "a section's alignment is no power of two");
	sec = objfile_add_section(r->obj, name, shdr->sh_type, shdr->sh_flags);
	if (!sec)
		return uspl_fail_nomem(r->err);
	r->secs[index] = sec;
	sec->index = (uint32_t)index;
	sec->size = shdr->sh_size;
	sec->align = shdr->sh_addralign ? shdr->sh_addralign : 1;
	sec->entsize = shdr->sh_entsize;
	if (shdr->sh_type == SHT_NOBITS || (r->no_debug && objsec_is_debug(sec)))
		return 0;
	scn = elf_getscn(r->elf, index);
	data = scn ? elf_rawdata(scn, NULL) : NULL;
	if (!data || data->d_size != shdr->sh_size || (data->d_size && !data->d_buf))
		return damaged(r, "a section reaches beyond the end of the file");
	sec->data = objfile_memdup(r->obj, data->d_buf, data->d_size);
	return sec->data ? 0 : uspl_fail_nomem(r->err);
}

static int read_sections(struct reader *r)
{
	for (size_t i = 1; i < r->n_secs; i++) {
		Elf_Scn *scn = elf_getscn(r->elf, i);
		GElf_Shdr shdr;
		int rc;

		if (!scn || !gelf_getshdr(scn, &shdr))
			return damaged(r, "it has no usable section table");
		if (shdr.sh_type == SHT_REL)
			return uspl_fail(
				r->err, USPL_E_FORMAT,
				"'%s' has relocations without addends, which x86-64 doesn't use",
				r->obj->name);
		if (shdr.sh_type == SHT_SYMTAB)
			r->symtab = i;
		if (is_table(shdr.sh_type))
			continue;
		rc = read_section(r, i, &shdr);
		if (rc)
			return rc;
	}
	return 0;
}

/* Fills in where a symbol is defined. */
static int place_symbol(struct reader *r, struct objsym *sym, const GElf_Sym *gsym,
			Elf32_Word xindex)
{
	size_t index = gsym->st_shndx == SHN_XINDEX ? xindex : gsym->st_shndx;

	sym->shndx = gsym->st_shndx;
	if (gsym->st_shndx == SHN_UNDEF || gsym->st_shndx == SHN_ABS ||
	    gsym->st_shndx == SHN_COMMON)
		return 0;
	if (gsym->st_shndx >= SHN_LORESERVE && gsym->st_shndx != SHN_XINDEX)
		return damaged(r, "a symbol lies in a reserved section");
	if (!index || index >= r->n_secs)
		return damaged(r, "a symbol lies in a section that doesn't exist");
	sym->sec = r->secs[index];
	if (!sym->sec) {
		/*
		 * A symbol of a table, as the section symbol of a group: nothing can refer to it.
		 */
		sym->shndx = SHN_ABS;
		return 0;
	}
	/* LLVM gives each function of a table of jumps (-fsanitize=cfi) the size of the table. */
	if (sym->type == STT_FUNC && sym->value <= sym->sec->size &&
	    sym->size > sym->sec->size - sym->value)
		sym->size = sym->sec->size - sym->value;
	if (sym->value > sym->sec->size || sym->size > sym->sec->size - sym->value)
		return damaged(r, "a symbol reaches beyond its section");
	if (sym->type == STT_SECTION && !sym->sec->secsym)
		sym->sec->secsym = sym;
	return 0;
}

static int read_symbol(struct reader *r, const GElf_Sym *gsym, Elf32_Word xindex, size_t strtab,
		       const char **file)
{
	const char *name = gsym->st_name ? string(r, strtab, gsym->st_name) : "";
	struct objsym *sym;

	if (!name)
		return damaged(r,
			       "the symbols' names don't lie in the string table, or are too long");
	sym = objfile_add_symbol(r->obj, name, GELF_ST_TYPE(gsym->st_info),
				 GELF_ST_BIND(gsym->st_info));
	if (!sym)
		return uspl_fail_nomem(r->err);
	sym->index = (uint32_t)r->obj->syms.n;
	sym->vis = GELF_ST_VISIBILITY(gsym->st_other);
	sym->value = gsym->st_value;
	sym->size = gsym->st_size;
	if (sym->type == STT_FILE)
		*file = sym->name;
	else if (sym->bind == STB_LOCAL)
		sym->file = *file;
	r->syms[sym->index] = sym;
	return place_symbol(r, sym, gsym, xindex);
}

static int read_symbols(struct reader *r)
{
	Elf_Scn *scn = elf_getscn(r->elf, r->symtab);
	Elf_Data *data, *xdata = NULL;
	GElf_Shdr shdr;
	const char *file = NULL;
	int xindexes;

	if (!r->symtab)
		return 0;
	data = elf_getdata(scn, NULL);
	if (!data || !gelf_getshdr(scn, &shdr) || shdr.sh_entsize != sizeof(Elf64_Sym))
		return damaged(r, "its symbol table can't be read");
	/* The section with the indexes of symbols whose section doesn't fit 16 bits. */
	xindexes = elf_scnshndx(scn);
	if (xindexes > 0)
		xdata = elf_getdata(elf_getscn(r->elf, (size_t)xindexes), NULL);
	r->n_syms = data->d_size / sizeof(Elf64_Sym);
	r->syms = calloc(r->n_syms + 1, sizeof(*r->syms));
	if (!r->syms)
		return uspl_fail_nomem(r->err);
	for (size_t i = 1; i < r->n_syms; i++) {
		Elf32_Word xindex = 0;
		GElf_Sym sym;
		int rc;

		if (!gelf_getsymshndx(data, xdata, (int)i, &sym, &xindex))
			return damaged(r, "its symbol table can't be read");
		rc = read_symbol(r, &sym, xindex, shdr.sh_link, &file);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_relocations(struct reader *r, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	struct objsec *sec;

	if (shdr->sh_info >= r->n_secs || !r->secs[shdr->sh_info])
		return damaged(r, "relocations belong to a section that doesn't exist");
	if (!data || shdr->sh_entsize != sizeof(Elf64_Rela) || shdr->sh_link != r->symtab)
		return damaged(r, "its relocations can't be read");
	sec = r->secs[shdr->sh_info];
	/*
	 * Where bytes are packed (gABI SHF_COMPRESSED; ".zdebug" before that), places are counted
	 * as if they weren't. Only debugging information is packed, which nothing here looks at.
	 */
	if ((sec->flags & SHF_COMPRESSED) || !strncmp(sec->name, ".zdebug", 7) ||
	    (r->no_debug && objsec_is_debug(sec)))
		return 0;
	for (size_t i = 0; i < data->d_size / sizeof(Elf64_Rela); i++) {
		struct objrel *rel;
		GElf_Rela rela;

		if (!gelf_getrela(data, (int)i, &rela))
			return damaged(r, "its relocations can't be read");
		if (GELF_R_SYM(rela.r_info) >= r->n_syms)
			return damaged(r, "a relocation names a symbol that doesn't exist");
		if (rela.r_offset > sec->size)
			return damaged(r, "a relocation lies outside its section");
		rel = vec_push(&sec->rels);
		if (!rel)
			return uspl_fail_nomem(r->err);
		rel->offset = rela.r_offset;
		rel->type = (uint32_t)GELF_R_TYPE(rela.r_info);
		rel->addend = rela.r_addend;
		rel->sym = r->syms[GELF_R_SYM(rela.r_info)];
	}
	objsec_sort_rels(sec);
	return 0;
}

/* The group's section isn't in obj->secs: its members point to it. */
static int read_group(struct reader *r, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	const Elf_Data *data = elf_getdata(scn, NULL);
	struct objsec *group = arena_alloc(r->obj->backing, sizeof(*group));
	const Elf32_Word *words;

	if (!group)
		return uspl_fail_nomem(r->err);
	if (!data || shdr->sh_link != r->symtab || !shdr->sh_info || shdr->sh_info >= r->n_syms)
		return damaged(r, "a section group can't be read");
	group->name = ".group";
	group->index = (uint32_t)elf_ndxscn(scn);
	group->type = SHT_GROUP;
	words = data->d_buf;
	for (size_t i = 1; i < data->d_size / sizeof(*words); i++) {
		if (words[i] >= r->n_secs)
			return damaged(r, "a section group has a member that doesn't exist");
		if (!r->secs[words[i]])
			continue; /* the relocations of another member */
		r->secs[words[i]]->group = group;
		r->secs[words[i]]->group_sig = r->syms[shdr->sh_info]->name;
	}
	return 0;
}

static int read_links(struct reader *r)
{
	for (size_t i = 1; i < r->n_secs; i++) {
		Elf_Scn *scn = elf_getscn(r->elf, i);
		GElf_Shdr shdr;
		int rc = 0;

		if (!scn || !gelf_getshdr(scn, &shdr))
			return damaged(r, "it has no usable section table");
		if (shdr.sh_type == SHT_RELA)
			rc = read_relocations(r, scn, &shdr);
		else if (shdr.sh_type == SHT_GROUP)
			rc = read_group(r, scn, &shdr);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_all(struct reader *r)
{
	int rc = check_kind(r);

	if (rc)
		return rc;
	r->secs = calloc(r->n_secs + 1, sizeof(*r->secs));
	if (!r->secs)
		return uspl_fail_nomem(r->err);
	rc = read_sections(r);
	if (rc)
		return rc;
	rc = read_symbols(r);
	if (rc)
		return rc;
	rc = read_links(r);
	if (rc)
		return rc;
	/* Without a symbol is no relocation but R_X86_64_NONE, in what is ever loaded. */
	for (size_t i = 0; i < r->obj->secs.n; i++) {
		const struct objsec *sec = r->obj->secs.items[i];
		const struct objrel *rel;

		if (!(sec->flags & SHF_ALLOC))
			continue;
		vec_for_each (&sec->rels, rel)
			if (!rel->sym && rel->type != R_X86_64_NONE)
				return damaged(r, "a relocation has no symbol");
	}
	return 0;
}

static int read_memory(const char *name, const void *data, size_t len, bool no_debug,
		       struct objfile **ret, struct uspl_err *err)
{
	auto_objfile struct objfile *obj = objfile_new(name);
	struct reader r = {
		.obj = obj,
		.names = 4 * (uint64_t)len + (1u << 20),
		.no_debug = no_debug,
		.err = err,
	};
	auto_free char *bytes = malloc(len + 1);
	int rc;

	if (!obj || !bytes)
		return uspl_fail_nomem(err);
	/* libelf may convert in place. */
	memcpy(bytes, data, len);
	elf_version(EV_CURRENT);
	r.elf = elf_memory(bytes, len);
	rc = r.elf ? read_all(&r) : uspl_fail(err, USPL_E_FORMAT, "'%s' is not an ELF file", name);
	elf_end(r.elf);
	free(r.secs);
	free(r.syms);
	if (rc)
		return rc;
	*ret = take_ptr(obj);
	return 0;
}

int objfile_read_memory(const char *name, const void *data, size_t len, struct objfile **ret,
			struct uspl_err *err)
{
	return read_memory(name, data, len, false, ret, err);
}

static int read_file(const char *path, bool no_debug, struct objfile **ret, struct uspl_err *err)
{
	auto_buf struct buf buf = { 0 };
	int rc = file_read(path, &buf, err);

	if (rc)
		return rc;
	return read_memory(path, buf_str(&buf), buf.len, no_debug, ret, err);
}

int objfile_read(const char *path, struct objfile **ret, struct uspl_err *err)
{
	return read_file(path, false, ret, err);
}

int objfile_read_code(const char *path, struct objfile **ret, struct uspl_err *err)
{
	return read_file(path, true, ret, err);
}
