/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * image_debug.h - what the debugging information of a program tells, in its file or kept apart
 *
 * It is never needed: where none is found, or a damaged one, the answer is that nothing is known.
 * What is kept apart is looked for when the first question is asked.
 */
#ifndef USPL_IMAGE_IMAGE_DEBUG_H
#define USPL_IMAGE_IMAGE_DEBUG_H

#include "base/error.h"
#include "image/image.h"

/*
 * Says where to look, for an image that image_open_elf has opened; to be called once. path is the
 * program's, bias what its addresses are moved by, folder one to look in first, or NULL. Fails only
 * if there is no such folder, or with USPL_E_NOMEM.
 */
int image_set_debug_place(struct image *image, const char *path, int64_t bias, const char *folder,
			  struct uspl_err *err) uspl_must_check;
/*
 * For a program without a .symtab: puts the symbols of its debugging information, if that is found,
 * in place of what it has.
 */
int image_add_debug_symbols(struct image *image, struct uspl_err *err) uspl_must_check;
/*
 * What the unit of this source file was compiled with (DW_AT_producer); allocated, NULL if that
 * isn't known.
 */
char *image_producer(const struct image *image, const char *unit);
/*
 * The place in the source of the code at addr, "limit.c:12"; allocated, NULL if that isn't known.
 */
char *image_line(const struct image *image, taddr addr);
/*
 * The same with the path of the file, relative to nothing where the debug information tells; the
 * caller frees it. *ret_line is touched on success only.
 */
char *image_source(const struct image *image, taddr addr, int *ret_line);

#endif
