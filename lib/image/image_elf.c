// SPDX-License-Identifier: GPL-3.0-or-later
// image_elf.c - symbols and build-id of a program's ELF file

#include "image/image_internal.h"

#include <gelf.h>
#include <string.h>

#include "base/note.h"

static void backing_free(void *arg)
{
	struct image_backing *backing = arg;

	if (backing->dwfl)
		dwfl_end(backing->dwfl);
	free(backing->debug_path);
	free(backing->path);
	elf_end(backing->elf);
	close(backing->fd);
	free(backing);
}

Elf *image_open_elf(struct image *image, int fd)
{
	struct image_backing *backing = calloc(1, sizeof(*backing));

	if (!backing) {
		close(fd);
		return NULL;
	}
	elf_version(EV_CURRENT);
	backing->fd = fd;
	/*
	 * Others may change a file that a process has mapped: if it were cut short under a mapping
	 * of ours, that would be SIGBUS, and names that were looked at could become longer.
	 */
	backing->elf = elf_begin(fd, image->pristine ? ELF_C_READ_MMAP : ELF_C_READ, NULL);
	image->backing = backing;
	image->release_backing = backing_free;
	return backing->elf;
}

struct image_backing *image_backing(const struct image *image)
{
	return image->release_backing == backing_free ? image->backing : NULL;
}

Elf *image_elf(const struct image *image)
{
	const struct image_backing *backing = image_backing(image);

	return backing ? backing->elf : NULL;
}

bool image_wants_symbol(const GElf_Sym *sym)
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

bool image_take_symbol(struct image *image, const char *name, const GElf_Sym *sym, taddr addr,
		       const char *file)
{
	struct image_sym *out;

	if (!name || !name[0] || !image_wants_symbol(sym))
		return true;
	out = vec_push(&image->syms);
	if (!out)
		return false;
	out->name = name;
	out->type = GELF_ST_TYPE(sym->st_info);
	out->bind = GELF_ST_BIND(sym->st_info);
	out->file = out->bind == STB_LOCAL ? file : NULL;
	out->size = sym->st_size;
	out->addr = out->type == STT_TLS ? sym->st_value : addr;
	return true;
}

static int add_table(struct image *image, Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr,
		     int64_t bias, struct uspl_err *err)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const char *file = NULL;
	size_t n = data && shdr->sh_entsize ? data->d_size / shdr->sh_entsize : 0;

	for (size_t i = 1; i < n; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		name = elf_strptr(elf, shdr->sh_link, sym.st_name);
		if (GELF_ST_TYPE(sym.st_info) == STT_FILE)
			file = name;
		if (!image_take_symbol(image, name, &sym, sym.st_value + (uint64_t)bias, file))
			return uspl_fail_nomem(err);
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

static int by_address(const void *a, const void *b)
{
	const struct image_sym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strcmp(x->name, y->name);
}

void image_sort_symbols(struct image *image)
{
	if (image->syms.n)
		qsort(image->syms.items, image->syms.n, sizeof(*image->syms.items), by_address);
}

int image_add_symbols(struct image *image, Elf *elf, int64_t bias, bool *ret_complete,
		      struct uspl_err *err)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_section(elf, SHT_SYMTAB, &shdr);
	bool has_table = scn != NULL;
	const struct image_sym *sym;
	int rc;

	if (!scn)
		scn = find_section(elf, SHT_DYNSYM, &shdr);
	rc = scn ? add_table(image, elf, scn, &shdr, bias, err) : 0;
	if (rc)
		return rc;
	image_sort_symbols(image);
	*ret_complete = false;
	/*
	 * A table that was thinned out (ld's --retain-symbols-file, -x; strip -x) lacks functions,
	 * though it isn't gone. Those that are linked into each program, such as
	 * deregister_tm_clones, tell.
	 */
	vec_for_each (&image->syms, sym)
		if (has_table && sym->bind == STB_LOCAL && sym->type == STT_FUNC) {
			*ret_complete = true;
			break;
		}
	return 0;
}

char *image_elf_build_id(Elf *elf)
{
	char *build_id = NULL;
	size_t n = 0;

	if (elf_getphdrnum(elf, &n) != 0)
		return NULL;
	for (size_t i = 0; i < n && !build_id; i++) {
		GElf_Phdr phdr;
		Elf_Data *data;

		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_NOTE)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)phdr.p_offset, phdr.p_filesz, ELF_T_BYTE);
		if (data)
			build_id = note_build_id(data->d_buf, data->d_size, phdr.p_align);
	}
	return build_id;
}

/*
 * x86-64 ELF TLS, variant II: the executable's block ends at the thread pointer (Drepper, "ELF
 * Handling For TLS", 3.4.2).
 */
int64_t image_tls_offset(uint64_t size, uint64_t align)
{
	if (!align)
		align = 1;
	return -(int64_t)((size + align - 1) / align * align);
}
