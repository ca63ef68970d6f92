// SPDX-License-Identifier: GPL-3.0-or-later
// module_image.c - a module's bytes and symbols as they are in the process now

#include <libelf.h>
#include <string.h>
#include <sys/mman.h>

#include "image/image_debug.h"
#include "image/image_elf.h"
#include "proc/module.h"

/* No module is larger, but mapped memory without contents might claim to be. */
#define BYTES_MAX (1ull << 30)

/* Smaller ones are read at once. */
#define SPARSE_LEAST (4u << 20)

/*
 * /proc/PID/mem copies each page twice, and would have each page of ours faulted in by itself. But
 * it is the process that was opened, for sure; the other way asks for whoever has the pid.
 */
static bool read_later(const void *ctx, taddr addr, void *to, size_t len)
{
	const struct proc *proc = ctx;
	const struct proc_piece piece = { addr, len, to };

	(void)madvise(to, len, MADV_POPULATE_WRITE);
	return (proc_read_pieces(proc, &piece, 1) && !proc_is_over(proc)) ||
	       proc_read_some(proc, addr, to, len) == len;
}

static int add_segment(const struct proc *proc, struct image *image, taddr start, size_t len,
		       const Elf64_Phdr *phdr, bool bytes, struct uspl_err *err)
{
	struct image_seg *seg = len ? vec_push(&image->segs) : NULL;
	void *map;

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
	if (!image->read || len < SPARSE_LEAST) {
		seg->bytes = malloc(len);
		if (!seg->bytes)
			return uspl_fail_nomem(err);
		return proc_read(proc, start, seg->bytes, len, err);
	}
	/* Room for bytes that are read when they are asked for. */
	map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
	if (map == MAP_FAILED)
		return uspl_fail_nomem(err);
	seg->there = calloc(len / IMAGE_PIECE + 1, 1);
	if (!seg->there) {
		munmap(map, len);
		return uspl_fail_nomem(err);
	}
	seg->bytes = map;
	return 0;
}

static int read_segments(const struct proc *proc, const struct module *module, struct image *image,
			 struct uspl_err *err)
{
	const Elf64_Phdr *phdr;
	uint64_t left = BYTES_MAX;

	vec_for_each (&module->phdrs, phdr) {
		taddr start = phdr->p_vaddr + (uint64_t)module->bias;
		int rc;

		if (phdr->p_type != PT_LOAD)
			continue;
		if (phdr->p_filesz > left)
			return uspl_fail(err, USPL_E_HOSTILE,
					 "'%s' in pid %d claims to have more than %llu MiB",
					 module->path, proc->pid, BYTES_MAX >> 20);
		left -= phdr->p_filesz;
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
	auto_free char *build_id = image_elf_build_id(elf);

	if (!build_id || !module->build_id)
		return !build_id && !module->build_id;
	return !strcmp(build_id, module->build_id);
}

/*
 * Symbols come from the file, .symtab or else what its debugging information has, if that is found,
 * or else .dynsym. A module without a readable file has none; that is no failure.
 */
static int read_symbols(const struct proc *proc, const struct module *module, struct image *image,
			struct uspl_err *err)
{
	int rc = 0, fd = module_open_file(proc, module);
	Elf *elf = fd < 0 ? NULL : image_open_elf(image, fd);
	bool complete = false;

	if (elf && !same_build(elf, module))
		elf = NULL;
	if (elf) {
		rc = image_add_symbols(image, elf, module->bias, &complete, err);
		if (rc)
			return rc;
		rc = image_set_debug_place(image, module->path, module->bias, NULL, err);
		if (rc)
			return rc;
	}
	if (complete)
		return 0;
	if (elf) {
		rc = image_add_debug_symbols(image, err);
		if (rc)
			return rc;
	}
	if (image->frames) {
		rc = image_add_starts(image, image->frames, err);
		if (rc)
			return rc;
	}
	if (elf && !image->starts.n) {
		rc = image_add_frame_starts(image, elf, module->bias, err);
		if (rc)
			return rc;
	}
	if (elf)
		image_drop_unused_starts(image, elf, module->bias);
	return 0;
}

static int make(const struct proc *proc, const struct module *module, bool sparse,
		struct image **ret, struct uspl_err *err)
{
	struct image *image = calloc(1, sizeof(*image));
	const Elf64_Phdr *phdr;
	int rc;

	if (!image)
		return uspl_fail_nomem(err);
	image->read = sparse ? read_later : NULL;
	image->read_ctx = proc;
	image->name = strdup(module->path);
	image->start = module->start;
	image->end = module->end;
	/* A library's block lies elsewhere in each thread; the program's is known. */
	if (module->is_main && module->tls_size)
		image->tls_offset = image_tls_offset(module->tls_size, module->tls_align);
	vec_for_each (&module->phdrs, phdr) {
		if (phdr->p_type != PT_GNU_EH_FRAME)
			continue;
		image->frames = phdr->p_vaddr + (uint64_t)module->bias;
		break;
	}
	rc = image->name ? read_segments(proc, module, image, err) : uspl_fail_nomem(err);
	if (!rc)
		rc = read_symbols(proc, module, image, err);
	if (rc) {
		image_free(image);
		return rc;
	}
	*ret = image;
	return 0;
}

int module_image(const struct proc *proc, const struct module *module, struct image **ret,
		 struct uspl_err *err)
{
	return make(proc, module, false, ret, err);
}

int module_image_sparse(const struct proc *proc, const struct module *module, struct image **ret,
			struct uspl_err *err)
{
	return make(proc, module, true, ret, err);
}
