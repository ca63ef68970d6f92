// SPDX-License-Identifier: GPL-3.0-or-later
// image_file.c - a program or library on disk, as it would lie in memory
//
// A file isn't yet what runs: the dynamic linker fills in the addresses that depend on where it
// and others are loaded. An image of the file gets them as if it had been loaded at the addresses
// it was linked for. What comes from other modules is not known here, and need not be: each such
// name stands for one address outside the image, so that all references to it agree, and those to
// another name don't.

#include <fcntl.h>
#include <gelf.h>
#include <string.h>

#include "arch/arch.h"
#include "base/file.h"
#include "image/image_debug.h"
#include "image/image_elf.h"

enum { OUTSIDE_GAP = 1 << 20, OUTSIDE_STEP = 16 };

static int fail_damaged(const struct image *image, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_FILE, "'%s' is damaged", image->name);
}

static int add_segment(struct image *image, const GElf_Phdr *phdr, Elf_Data *data, uint64_t at,
		       uint64_t len, struct uspl_err *err)
{
	struct image_seg *seg = len ? vec_push(&image->segs) : NULL;

	if (!len)
		return 0;
	if (!seg)
		return uspl_fail_nomem(err);
	seg->start = phdr->p_vaddr + at;
	seg->len = len;
	seg->exec = phdr->p_flags & PF_X;
	seg->write = phdr->p_flags & PF_W;
	if (!data)
		return 0;
	seg->bytes = malloc(len);
	if (!seg->bytes)
		return uspl_fail_nomem(err);
	memcpy(seg->bytes, data->d_buf, len);
	return 0;
}

static int load_segment(struct image *image, Elf *elf, const GElf_Phdr *phdr, struct uspl_err *err)
{
	Elf_Data *data = NULL;
	int rc;

	if (phdr->p_filesz > phdr->p_memsz || phdr->p_vaddr + phdr->p_memsz < phdr->p_vaddr ||
	    (image->end && phdr->p_vaddr < image->end))
		return fail_damaged(image, err);
	if (phdr->p_filesz)
		data = elf_getdata_rawchunk(elf, (int64_t)phdr->p_offset, phdr->p_filesz,
					    ELF_T_BYTE);
	if (phdr->p_filesz && !data)
		return fail_damaged(image, err);
	if (!image->end)
		image->start = phdr->p_vaddr;
	image->end = phdr->p_vaddr + phdr->p_memsz;
	rc = add_segment(image, phdr, data, 0, phdr->p_filesz, err);
	if (rc)
		return rc;
	return add_segment(image, phdr, NULL, phdr->p_filesz, phdr->p_memsz - phdr->p_filesz, err);
}

/* *ret_frames: where the header of the call frame information lies, 0 if there is none. */
static int load_segments(struct image *image, Elf *elf, taddr *ret_frames, struct uspl_err *err)
{
	size_t n = 0;
	int rc = 0;

	if (elf_getphdrnum(elf, &n) != 0)
		return fail_damaged(image, err);
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, (int)i, &phdr))
			return fail_damaged(image, err);
		if (phdr.p_type == PT_LOAD) {
			rc = load_segment(image, elf, &phdr, err);
			if (rc)
				return rc;
		} else if (phdr.p_type == PT_GNU_EH_FRAME)
			*ret_frames = phdr.p_vaddr;
		else if (phdr.p_type == PT_TLS)
			image->tls_offset = image_tls_offset(phdr.p_memsz, phdr.p_align);
	}
	if (!image->segs.n)
		return fail_damaged(image, err);
	return 0;
}

/* Writes what the dynamic linker would; what it alone can know stays 0, and isn't compared. */
static void relocate(struct image *image, Elf_Data *syms, const GElf_Rela *rela)
{
	enum reloc_kind kind = arch_native()->dynamic_reloc(GELF_R_TYPE(rela->r_info));
	size_t index = GELF_R_SYM(rela->r_info);
	struct image_seg *seg = (struct image_seg *)image_seg_at(image, rela->r_offset);
	uint64_t value = (uint64_t)rela->r_addend;
	bool named, outside;
	GElf_Sym sym;

	named = index && syms && gelf_getsym(syms, (int)index, &sym);
	outside = named && sym.st_shndx == SHN_UNDEF;
	/* What lies outside of the file is taken to be behind its end. */
	if (outside && !sym.st_value)
		value += image->end + OUTSIDE_GAP + index * OUTSIDE_STEP;
	else if (named)
		value += sym.st_value;
	if (!seg || !seg->bytes || seg->len - (rela->r_offset - seg->start) < sizeof(value))
		return;
	if (kind == RELOC_TPOFF) {
		if (outside)
			return;
		value += (uint64_t)image->tls_offset;
	} else if (kind != RELOC_ABS) {
		return;
	}
	memcpy(seg->bytes + (rela->r_offset - seg->start), &value, sizeof(value));
}

static void relocate_all(struct image *image, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data, *syms;
		GElf_Rela rela;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_RELA ||
		    !(shdr.sh_flags & SHF_ALLOC))
			continue;
		data = elf_getdata(scn, NULL);
		syms = shdr.sh_link ? elf_getdata(elf_getscn(elf, shdr.sh_link), NULL) : NULL;
		for (int i = 0; data && gelf_getrela(data, i, &rela); i++)
			relocate(image, syms, &rela);
	}
}

static int read_soname(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, char **ret,
		       struct uspl_err *err)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Dyn entry;

	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		const char *name = entry.d_tag == DT_SONAME
					   ? elf_strptr(elf, shdr->sh_link, entry.d_un.d_val)
					   : NULL;

		if (!name || *ret)
			continue;
		*ret = strdup(name);
		if (!*ret)
			return uspl_fail_nomem(err);
	}
	return 0;
}

static int fill(struct image_file *file, Elf *elf, const char *folder, struct uspl_err *err)
{
	struct image *image = file->image;
	Elf_Scn *scn = NULL;
	bool complete = false;
	taddr frames = 0;
	GElf_Shdr shdr;
	int rc = load_segments(image, elf, &frames, err);

	if (rc)
		return rc;
	relocate_all(image, elf);
	file->build_id = image_elf_build_id(elf);
	rc = image_add_symbols(image, elf, 0, &complete, err);
	if (rc)
		return rc;
	rc = image_set_debug_place(image, image->name, 0, folder, err);
	if (rc)
		return rc;
	if (!complete) {
		rc = image_add_debug_symbols(image, err);
		if (rc)
			return rc;
	}
	if (!complete && frames) {
		rc = image_add_starts(image, frames, err);
		if (rc)
			return rc;
	}
	if (!complete && !image->starts.n) {
		rc = image_add_frame_starts(image, elf, 0, err);
		if (rc)
			return rc;
	}
	image_drop_unused_starts(image, elf, 0);
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_DYNAMIC)
			continue;
		rc = read_soname(elf, scn, &shdr, &file->soname, err);
		if (rc)
			return rc;
	}
	return 0;
}

int image_file_read(const char *path, const char *folder, struct image_file *ret,
		    struct uspl_err *err)
{
	auto_image_file struct image_file file = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), rc;
	GElf_Ehdr ehdr;
	Elf *elf;

	if (fd < 0)
		return uspl_fail_errno(err, "cannot open '%s'", path);
	file.image = calloc(1, sizeof(*file.image));
	if (!file.image) {
		close(fd);
		return uspl_fail_nomem(err);
	}
	file.image->pristine = true;
	elf = image_open_elf(file.image, fd);
	file.image->name = strdup(path);
	if (!file.image->name)
		return uspl_fail_nomem(err);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr) ||
	    ehdr.e_ident[EI_CLASS] != ELFCLASS64 || ehdr.e_machine != arch_native()->machine ||
	    (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN))
		return uspl_fail(err, USPL_E_FILE, "'%s' is no program or library for %s", path,
				 arch_native()->name);
	rc = fill(&file, elf, folder, err);
	if (rc)
		return rc;
	*ret = file;
	file = (struct image_file){ 0 };
	return 0;
}

void image_file_release(struct image_file *file)
{
	image_free(file->image);
	free(file->build_id);
	free(file->soname);
	*file = (struct image_file){ 0 };
}
