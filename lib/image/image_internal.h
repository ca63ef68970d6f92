/* SPDX-License-Identifier: GPL-3.0-or-later */
/* image_internal.h - what the files that fill an image from ELF files share */
#ifndef USPL_IMAGE_IMAGE_INTERNAL_H
#define USPL_IMAGE_IMAGE_INTERNAL_H

#include <elfutils/libdwfl.h>
#include <gelf.h>

#include "image/image_elf.h"

/* What the names of an image's symbols point into. */
struct image_backing {
	int fd;
	Elf *elf;
	/* Of image_debug.c: */
	char *path;       /* the file's; NULL: it hasn't been told yet */
	int64_t bias;     /* the addresses are moved by this */
	char *debug_path; /* where dwfl looks; NULL: at the usual places */
	Dwfl *dwfl;       /* NULL until the first question */
	Dwfl_Module *mod; /* of dwfl */
	Dwfl_Callbacks callbacks;
};

/* The file of an image that image_open_elf opened, NULL if it has none. */
struct image_backing *image_backing(const struct image *image);
/* The program as libdwfl sees it, made once for all questions; NULL if it doesn't. */
Dwfl_Module *image_dwfl_module(const struct image *image);
/* True for a symbol that stands for a place in the program. */
bool image_wants_symbol(const GElf_Sym *sym);
/*
 * Adds a symbol at an address if it is one of those; file: the source file that local ones are of.
 * A thread-local variable keeps its place in the block. False: out of memory.
 */
bool image_take_symbol(struct image *image, const char *name, const GElf_Sym *sym, taddr addr,
		       const char *file) uspl_must_check;
/* Puts the symbols in the order of their addresses. */
void image_sort_symbols(struct image *image);

#endif
