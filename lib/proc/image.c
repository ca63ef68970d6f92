// SPDX-License-Identifier: GPL-3.0-or-later
// image.c - a module's bytes and symbols as they are in the process now

#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "base/buf.h"
#include "proc/ehframe.h"
#include "proc/module.h"
#include "proc/note.h"

/* What the names of an image's symbols point into. */
struct backing {
	int fd;
	Elf *elf;
};

static void backing_free(void *arg)
{
	struct backing *backing = arg;

	if (!backing)
		return;
	elf_end(backing->elf);
	if (backing->fd >= 0)
		close(backing->fd);
	free(backing);
}

static int add_segment(const struct proc *proc, struct image *image, taddr start, size_t len,
		       const Elf64_Phdr *phdr, bool bytes, struct uspl_err *err)
{
	struct image_seg *seg = len ? vec_push(&image->segs) : NULL;

	if (!len)
		return 0;
	if (!seg)
		return uspl_fail_nomem(err);
	seg->start = start;
	seg->len = len;
	seg->exec = phdr->p_flags & PF_X;
	seg->write = phdr->p_flags & PF_W;
	if (!bytes)
		return 0;
	seg->bytes = malloc(len);
	if (!seg->bytes)
		return uspl_fail_nomem(err);
	return proc_read(proc, start, seg->bytes, len, err);
}

static int read_segments(const struct proc *proc, const struct module *module, struct image *image,
			 struct uspl_err *err)
{
	const Elf64_Phdr *phdr;

	vec_for_each (&module->phdrs, phdr) {
		taddr start = phdr->p_vaddr + (uint64_t)module->bias;
		int rc;

		if (phdr->p_type != PT_LOAD)
			continue;
		rc = add_segment(proc, image, start, phdr->p_filesz, phdr, true, err);
		if (!rc && phdr->p_memsz > phdr->p_filesz)
			rc = add_segment(proc, image, start + phdr->p_filesz,
					 phdr->p_memsz - phdr->p_filesz, phdr, false, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * True if the file's own notes hold the build-id that the module has in memory (or neither has
 * one).
 */
static bool same_build(Elf *elf, const struct module *module)
{
	auto_free char *build_id = NULL;
	size_t n = 0;

	if (elf_getphdrnum(elf, &n) != 0)
		return false;
	for (size_t i = 0; i < n && !build_id; i++) {
		GElf_Phdr phdr;
		Elf_Data *data;

		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_NOTE)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)phdr.p_offset, phdr.p_filesz, ELF_T_BYTE);
		if (data)
			build_id = note_build_id(data->d_buf, data->d_size, phdr.p_align);
	}
	if (!build_id || !module->build_id)
		return !build_id && !module->build_id;
	return !strcmp(build_id, module->build_id);
}

static bool wanted(const GElf_Sym *sym)
{
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_NOTYPE:
	case STT_FUNC:
	case STT_OBJECT:
	case STT_GNU_IFUNC:
	case STT_TLS:
		return sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS;
	default:
		return false;
	}
}

static int add_symbols(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, const struct module *module,
		       struct image *image, struct uspl_err *err)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const char *file = NULL;
	size_t n = data && shdr->sh_entsize ? data->d_size / shdr->sh_entsize : 0;

	for (size_t i = 1; i < n; i++) {
		const char *name;
		struct image_sym *out;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		name = elf_strptr(elf, shdr->sh_link, sym.st_name);
		if (GELF_ST_TYPE(sym.st_info) == STT_FILE)
			file = name;
		if (!name || !name[0] || !wanted(&sym))
			continue;
		out = vec_push(&image->syms);
		if (!out)
			return uspl_fail_nomem(err);
		out->name = name;
		out->type = GELF_ST_TYPE(sym.st_info);
		out->bind = GELF_ST_BIND(sym.st_info);
		out->file = out->bind == STB_LOCAL ? file : NULL;
		out->size = sym.st_size;
		out->addr = sym.st_value + (out->type == STT_TLS ? 0 : (uint64_t)module->bias);
	}
	return 0;
}

static Elf_Scn *find_section(Elf *elf, uint32_t type, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, ret) && ret->sh_type == type)
			return scn;
	return NULL;
}

/*
 * Symbols come from the file, .symtab or else .dynsym. A module without a readable file has none:
 * that is no failure.
 */
static int read_symbols(const struct proc *proc, const struct module *module, struct image *image,
			bool *ret_complete, struct uspl_err *err)
{
	struct backing *backing;
	GElf_Shdr shdr;
	Elf_Scn *scn;
	int fd = module_open_file(proc, module);

	if (fd < 0)
		return 0;
	backing = calloc(1, sizeof(*backing));
	if (!backing) {
		close(fd);
		return uspl_fail_nomem(err);
	}
	backing->fd = fd;
	image->backing = backing;
	image->release_backing = backing_free;
	elf_version(EV_CURRENT);
	backing->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!backing->elf || !same_build(backing->elf, module))
		return 0;
	scn = find_section(backing->elf, SHT_SYMTAB, &shdr);
	*ret_complete = scn != NULL;
	if (!scn)
		scn = find_section(backing->elf, SHT_DYNSYM, &shdr);
	return scn ? add_symbols(backing->elf, scn, &shdr, module, image, err) : 0;
}

static int by_address(const void *a, const void *b)
{
	const struct image_sym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strcmp(x->name, y->name);
}

/*
 * x86-64 ELF TLS, variant II: the executable's block ends at the thread pointer (Drepper, "ELF
 * Handling For TLS", 3.4.2).
 */
static int64_t static_tls_offset(const struct module *module)
{
	uint64_t align = module->tls_align ? module->tls_align : 1;

	if (!module->is_main || !module->tls_size)
		return 0;
	return -(int64_t)((module->tls_size + align - 1) / align * align);
}

int module_image(const struct proc *proc, const struct module *module, struct image **ret,
		 struct uspl_err *err)
{
	struct image *image = calloc(1, sizeof(*image));
	bool complete = false;
	int rc;

	if (!image)
		return uspl_fail_nomem(err);
	image->name = strdup(module->path);
	image->start = module->start;
	image->end = module->end;
	image->tls_offset = static_tls_offset(module);
	rc = image->name ? read_segments(proc, module, image, err) : uspl_fail_nomem(err);
	if (!rc)
		rc = read_symbols(proc, module, image, &complete, err);
	if (!rc && !complete)
		rc = ehframe_add_starts(proc, module, image, err);
	if (rc) {
		image_free(image);
		return rc;
	}
	if (image->syms.n)
		qsort(image->syms.items, image->syms.n, sizeof(*image->syms.items), by_address);
	*ret = image;
	return 0;
}
