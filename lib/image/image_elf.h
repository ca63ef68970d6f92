/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * image_elf.h - what an image takes from a program's ELF file
 *
 * The bytes of a process's module come from its memory, and only the symbols from the file. An
 * image of a file takes all from there: it looks as the program would in memory, at the addresses
 * it was linked for, before its first instruction.
 */
#ifndef USPL_IMAGE_IMAGE_ELF_H
#define USPL_IMAGE_IMAGE_ELF_H

#include <libelf.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "image/image.h"

/*
 * Opens the ELF file for an image, which keeps fd and file, and closes both when it is freed: names
 * of symbols point into the file. fd is taken in any case. NULL: no ELF file, or out of memory.
 */
Elf *image_open_elf(struct image *image, int fd);
/* The file of an image that was opened so; NULL if it has none. */
Elf *image_elf(const struct image *image);

/*
 * Adds the symbols of .symtab, or else of .dynsym, each moved by bias; sorted. Their names are
 * elf's. *ret_complete: there was a .symtab, and not only a part of one. A file without either adds
 * none: that is no failure.
 */
int image_add_symbols(struct image *image, Elf *elf, int64_t bias, bool *ret_complete,
		      struct uspl_err *err) uspl_must_check;
/*
 * Adds to image->starts and ->parts, sorted, where the functions and the parts of functions that
 * lie apart (.cold) begin, by the .eh_frame_hdr at that address, which lies in the image. A header
 * that is encoded in another way than linkers do it adds none: that is no failure.
 */
int image_add_starts(struct image *image, taddr header, struct uspl_err *err) uspl_must_check;
/*
 * The same for a program whose linker made no such table (a static one): by .eh_frame itself, which
 * the file's section headers tell the place of.
 */
int image_add_frame_starts(struct image *image, Elf *elf, int64_t bias,
			   struct uspl_err *err) uspl_must_check;
/*
 * Takes out of them the places in code that the program has kept and doesn't run: llvm-bolt writes
 * all functions anew, and leaves the old ones in a section of their own.
 */
void image_drop_unused_starts(struct image *image, Elf *elf, int64_t bias);
/* A frame description and its common record, as far as the two look at them. */
struct frame_rules {
	const uint8_t *common, *common_end; /* the common record's instructions */
	const uint8_t *own, *own_end;       /* and its own */
	bool signal;                        /* a signal handler's return: the kernel enters it */
};

/*
 * For these two functions: adds one, as a part if its rules (NULL: not known) say so;
 * image_sort_starts must follow. False: out of memory.
 */
bool image_add_start(struct image *image, taddr start,
		     const struct frame_rules *rules) uspl_must_check;
void image_sort_starts(struct image *image);

/*
 * The offset of a program's block of thread-local variables from the thread pointer, by the size
 * and alignment of its PT_TLS segment; 0 if it has none.
 */
int64_t image_tls_offset(uint64_t size, uint64_t align);

/* The build-id in the file's notes, in hex and allocated; NULL if it has none. */
char *image_elf_build_id(Elf *elf);

/* A program or library on disk. */
struct image_file {
	struct image *image;
	char *build_id; /* in hex, NULL if it has none */
	char *soname;   /* NULL if it has none */
};

/*
 * Reads an executable or a shared library. What a dynamic linker would write is filled in:
 * addresses in the program itself as they are, and for what comes from elsewhere, one address
 * outside the image for each name. folder: where debugging information is kept, too, or NULL.
 * USPL_E_FILE: missing, damaged, or not a program for x86-64.
 */
int image_file_read(const char *path, const char *folder, struct image_file *ret,
		    struct uspl_err *err) uspl_must_check;
void image_file_release(struct image_file *file);
DEFINE_AUTO_RELEASE(image_file, struct image_file, image_file_release)
#define auto_image_file __attribute__((cleanup(cleanup_image_file_)))

#endif
