/* SPDX-License-Identifier: GPL-3.0-or-later */
/* image_file.h - for unit tests: an image of a linked file, as if it had been loaded at its own addresses */
#ifndef USPL_TESTS_IMAGE_FILE_H
#define USPL_TESTS_IMAGE_FILE_H

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "match/image.h"

struct image_file {
	int fd;
	Elf *elf;
};

static void image_file_close(void *arg)
{
	struct image_file *file = arg;

	elf_end(file->elf);
	close(file->fd);
	free(file);
}

static int image_file_by_addr(const void *a, const void *b)
{
	const struct image_sym *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void image_file_segment(struct image *image, int fd, const GElf_Phdr *phdr)
{
	struct image_seg *seg = vec_push(&image->segs);

	seg->start = phdr->p_vaddr;
	seg->len = phdr->p_filesz;
	seg->exec = phdr->p_flags & PF_X;
	seg->write = phdr->p_flags & PF_W;
	seg->bytes = malloc(seg->len ? seg->len : 1);
	if (pread(fd, seg->bytes, seg->len, (off_t)phdr->p_offset) != (ssize_t)seg->len)
		exit(1);
	if (!image->start)
		image->start = seg->start;
	image->end = phdr->p_vaddr + phdr->p_memsz;
}

static void image_file_symbols(struct image *image, Elf *elf, Elf_Scn *scn, size_t strtab)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const char *file = NULL;
	GElf_Sym sym;

	for (int i = 1; gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, strtab, sym.st_name);
		struct image_sym *out;

		if (GELF_ST_TYPE(sym.st_info) == STT_FILE)
			file = name;
		if (!name[0] || sym.st_shndx == SHN_UNDEF || GELF_ST_TYPE(sym.st_info) == STT_FILE)
			continue;
		out = vec_push(&image->syms);
		out->name = name;
		out->type = GELF_ST_TYPE(sym.st_info);
		out->bind = GELF_ST_BIND(sym.st_info);
		out->file = out->bind == STB_LOCAL ? file : NULL;
		out->addr = sym.st_value;
		out->size = sym.st_size;
	}
	qsort(image->syms.items, image->syms.n, sizeof(*image->syms.items), image_file_by_addr);
}

/* Exits if it can't: a test has nothing to go on with then. */
static inline struct image *image_of_file(const char *path)
{
	struct image *image = calloc(1, sizeof(*image));
	struct image_file *file = calloc(1, sizeof(*file));
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t n = 0;

	elf_version(EV_CURRENT);
	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (!file->elf || elf_getphdrnum(file->elf, &n)) {
		fprintf(stderr, "cannot read '%s'\n", path);
		exit(1);
	}
	image->name = strdup(path);
	image->backing = file;
	image->release_backing = image_file_close;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr phdr;

		gelf_getphdr(file->elf, (int)i, &phdr);
		if (phdr.p_type == PT_LOAD)
			image_file_segment(image, file->fd, &phdr);
		if (phdr.p_type == PT_TLS)
			image->tls_offset =
				-(int64_t)((phdr.p_memsz + phdr.p_align - 1) & -phdr.p_align);
	}
	while ((scn = elf_nextscn(file->elf, scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_SYMTAB)
			image_file_symbols(image, file->elf, scn, shdr.sh_link);
	return image;
}

#endif
