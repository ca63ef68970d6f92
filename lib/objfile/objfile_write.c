// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * objfile_write.c - from the graph to the bytes of a relocatable ELF file
 *
 *     ELF header | contents of each section | .symtab | .strtab | .rela of each section |
 *     .shstrtab | section headers
 *
 * The section headers stand in the same order. Written by hand rather than with libelf, which can
 * write only to a file descriptor. Groups aren't written: an update has no use for them.
 */

#include <string.h>

#include "base/buf.h"
#include "objfile/objfile.h"

struct writer {
	struct objfile *obj;
	struct buf *out;
	size_t start; /* where in out the file begins */
	struct buf strtab, shstrtab;
	VEC(Elf64_Shdr) shdrs;
	uint32_t symtab, shstrndx;
	struct uspl_err *err;
};

static int refuse(struct writer *w, const char *what, const char *name)
{
	return uspl_fail(w->err, USPL_E_BUG, "cannot write '%s': %s '%s'", w->obj->name, what,
			 name);
}

/* Appends a name to a string table, which begins with the empty name; returns its offset. */
static uint32_t add_name(struct buf *tab, const char *name)
{
	uint32_t offset = (uint32_t)tab->len;

	if (!*name)
		return 0;
	buf_add(tab, name, strlen(name) + 1);
	return offset;
}

static void align_out(struct writer *w, uint64_t align)
{
	while ((w->out->len - w->start) & (align - 1) && !w->out->oom)
		buf_addzero(w->out, 1);
}

/* Appends a section's bytes and its header. The header's name, links and flags are the caller's. */
static Elf64_Shdr *add_section(struct writer *w, const char *name, uint32_t type, uint64_t align)
{
	Elf64_Shdr *shdr = vec_push(&w->shdrs);

	if (!shdr)
		return NULL;
	align_out(w, align);
	shdr->sh_name = add_name(&w->shstrtab, name);
	shdr->sh_type = type;
	shdr->sh_offset = w->out->len - w->start;
	shdr->sh_addralign = align;
	return shdr;
}

static int write_sections(struct writer *w)
{
	/*
	 * Each may have relocations too, and the numbers from SHN_LORESERVE on mean something
	 * else.
	 */
	if (w->obj->secs.n >= SHN_LORESERVE / 2 - 8)
		return uspl_fail(w->err, USPL_E_UNSUPPORTED,
				 "cannot write '%s': %zu sections are too many", w->obj->name,
				 w->obj->secs.n);
	for (size_t i = 0; i < w->obj->secs.n; i++) {
		struct objsec *sec = w->obj->secs.items[i];
		Elf64_Shdr *shdr =
			add_section(w, sec->name, sec->type, sec->align ? sec->align : 1);

		if (!shdr)
			return uspl_fail_nomem(w->err);
		sec->index = (uint32_t)i + 1;
		shdr->sh_flags = sec->flags & ~(uint64_t)SHF_GROUP;
		shdr->sh_size = sec->size;
		shdr->sh_entsize = sec->entsize;
		if (sec->type == SHT_NOBITS)
			continue;
		if (sec->size && !sec->data)
			return refuse(w, "no contents for section", sec->name);
		buf_add(w->out, sec->data, sec->size);
	}
	return 0;
}

static int write_symbols_of(struct writer *w, bool global)
{
	for (size_t i = 0; i < w->obj->syms.n; i++) {
		const struct objsym *sym = w->obj->syms.items[i];
		Elf64_Sym out = {
			.st_info = ELF64_ST_INFO(sym->bind, sym->type),
			.st_other = sym->vis,
			.st_value = sym->value,
			.st_size = sym->size,
			.st_shndx = sym->sec ? (Elf64_Section)sym->sec->index : sym->shndx,
		};

		if ((sym->bind != STB_LOCAL) != global)
			continue;
		if (!sym->sec && sym->shndx != SHN_UNDEF && sym->shndx != SHN_ABS &&
		    sym->shndx != SHN_COMMON)
			return refuse(w, "no section for symbol", sym->name);
		out.st_name = add_name(&w->strtab, sym->name);
		buf_add(w->out, &out, sizeof(out));
	}
	return 0;
}

static int write_symbols(struct writer *w)
{
	Elf64_Shdr *shdr = add_section(w, ".symtab", SHT_SYMTAB, 8);
	uint32_t next = 1, first_global;
	int rc;

	if (!shdr)
		return uspl_fail_nomem(w->err);
	/* Locals first, as ELF asks for; the order is kept otherwise. */
	for (size_t i = 0; i < w->obj->syms.n; i++)
		if (w->obj->syms.items[i]->bind == STB_LOCAL)
			w->obj->syms.items[i]->index = next++;
	first_global = next;
	for (size_t i = 0; i < w->obj->syms.n; i++)
		if (w->obj->syms.items[i]->bind != STB_LOCAL)
			w->obj->syms.items[i]->index = next++;
	w->symtab = (uint32_t)w->shdrs.n - 1;
	shdr->sh_entsize = sizeof(Elf64_Sym);
	shdr->sh_link = w->symtab + 1;
	shdr->sh_info = first_global;
	shdr->sh_size = (w->obj->syms.n + 1) * sizeof(Elf64_Sym);
	buf_addzero(w->out, sizeof(Elf64_Sym));
	rc = write_symbols_of(w, false);
	if (rc)
		return rc;
	return write_symbols_of(w, true);
}

static int write_names(struct writer *w, const char *name, const struct buf *tab,
		       uint32_t *ret_index)
{
	Elf64_Shdr *shdr = add_section(w, name, SHT_STRTAB, 1);

	if (!shdr)
		return uspl_fail_nomem(w->err);
	shdr->sh_size = tab->len;
	buf_add(w->out, tab->data, tab->len);
	*ret_index = (uint32_t)w->shdrs.n - 1;
	return 0;
}

static int write_relocations(struct writer *w, const struct objsec *sec)
{
	auto_buf struct buf name = { 0 };
	const struct objrel *rel;
	Elf64_Shdr *shdr;

	buf_addf(&name, ".rela%s", sec->name);
	shdr = add_section(w, buf_str(&name), SHT_RELA, 8);
	if (!shdr)
		return uspl_fail_nomem(w->err);
	shdr->sh_flags = SHF_INFO_LINK;
	shdr->sh_entsize = sizeof(Elf64_Rela);
	shdr->sh_link = w->symtab;
	shdr->sh_info = sec->index;
	shdr->sh_size = sec->rels.n * sizeof(Elf64_Rela);
	vec_for_each (&sec->rels, rel) {
		Elf64_Rela out = {
			.r_offset = rel->offset,
			.r_info =
				ELF64_R_INFO((uint64_t)(rel->sym ? rel->sym->index : 0), rel->type),
			.r_addend = rel->addend,
		};

		buf_add(w->out, &out, sizeof(out));
	}
	return 0;
}

static int write_headers(struct writer *w)
{
	Elf64_Ehdr ehdr = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_REL,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (Elf64_Half)w->shdrs.n,
		.e_shstrndx = (Elf64_Half)w->shstrndx,
	};
	align_out(w, 8);
	ehdr.e_shoff = w->out->len - w->start;
	buf_add(w->out, w->shdrs.items, w->shdrs.n * sizeof(Elf64_Shdr));
	if (w->out->oom || w->strtab.oom || w->shstrtab.oom)
		return uspl_fail_nomem(w->err);
	memcpy(w->out->data + w->start, &ehdr, sizeof(ehdr));
	return 0;
}

static int write_all(struct writer *w)
{
	uint32_t strndx, name;
	int rc;

	buf_addzero(w->out, sizeof(Elf64_Ehdr));
	buf_addzero(&w->strtab, 1);
	buf_addzero(&w->shstrtab, 1);
	if (!vec_push(&w->shdrs))
		return uspl_fail_nomem(w->err);
	rc = write_sections(w);
	if (rc)
		return rc;
	rc = write_symbols(w);
	if (rc)
		return rc;
	rc = write_names(w, ".strtab", &w->strtab, &strndx);
	if (rc)
		return rc;
	for (size_t i = 0; i < w->obj->secs.n; i++) {
		rc = w->obj->secs.items[i]->rels.n ? write_relocations(w, w->obj->secs.items[i])
						   : 0;
		if (rc)
			return rc;
	}
	/* The table of section names; its own name must be in it before it is written. */
	name = add_name(&w->shstrtab, ".shstrtab");
	rc = write_names(w, "", &w->shstrtab, &w->shstrndx);
	if (rc)
		return rc;
	w->shdrs.items[w->shstrndx].sh_name = name;
	return write_headers(w);
}

int objfile_write(struct objfile *obj, struct buf *buf, struct uspl_err *err)
{
	struct writer w = { .obj = obj, .out = buf, .start = buf->len, .err = err };
	int rc = write_all(&w);

	buf_release(&w.strtab);
	buf_release(&w.shstrtab);
	vec_release(&w.shdrs);
	return rc;
}
