/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * linked.h - a program as the linker made it before the patch, and what of its objects is in it
 *
 * An object's function isn't in the program if another object's comes first (weak symbols), or if
 * the linker left it out (--gc-sections). What isn't there can't be replaced, and new code that
 * needs it has to bring it.
 */
#ifndef USPL_CREATE_UNIT_LINKED_H
#define USPL_CREATE_UNIT_LINKED_H

#include "base/strmap.h"
#include "create/unit/earlier.h"
#include "image/image_elf.h"
#include "objfile/objfile.h"

struct build_link;

struct linked {
	struct image_file file;
	/*
	 * Its symbol table has the names of static functions: so a name that it lacks isn't in the
	 * program. One that was stripped says nothing.
	 */
	bool complete;
	struct strmap names;           /* of its symbols, without versions -> image_sym */
	struct strmap imports;         /* names that it has from other modules */
	struct strmap exports;         /* names that other modules may have from it */
	const char *options;           /* the linker's; NULL if there were none */
	const struct earlier *earlier; /* updates that a process has already */
	const struct update_target *target;
};

/*
 * Opens a program of a link, one of its two files. *ret is NULL if it wasn't kept (file is NULL),
 * or can't be read as a program for this processor: then nothing is known of it. link, earlier and
 * target must outlive it.
 */
int linked_open(const struct build_link *link, const char *file, const struct earlier *earlier,
		const struct update_target *target, struct linked **ret,
		struct uspl_err *err) uspl_must_check;
void linked_free(struct linked *linked);
DEFINE_AUTO_FREE(linked, struct linked, linked_free)
#define auto_linked __attribute__((cleanup(cleanup_linked_)))

/* True if one of the earlier updates brings code or data of that refname. */
bool linked_has_earlier(const struct linked *linked, const char *refname);
/*
 * True if it is certain that neither the program nor an earlier update has what the symbol of an
 * object stands for. refname: the symbol's; false for linked == NULL.
 */
bool linked_lacks(const struct linked *linked, const struct objsym *sym, const char *refname);
/* True if other modules may refer to the program's definition of this name, as plugins do. */
bool linked_exports(const struct linked *linked, const char *name);
/* True if it is certain that nothing of the program's own has this global name. */
bool linked_lacks_name(const struct linked *linked, const char *name);

#endif
