/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mark_notes.h - the notes that include/uspl/mark.h and branch.h leave in a program, in its memory
 */
#ifndef USPL_TRACE_PROBE_MARK_NOTES_H
#define USPL_TRACE_PROBE_MARK_NOTES_H

#include "base/note.h"
#include "proc/module.h"

/*
 * Takes a note of whatever owner, whose description lies at addr. 0, or a failure that ends the
 * walk.
 */
typedef int (*mark_note_fn)(void *ctx, const struct image *image, const struct note *note,
			    taddr addr, struct uspl_err *err);
/* Calls it for each note of a module, and of the updates that are laid over its image. */
int mark_notes_each(const struct module *module, const struct image *image, mark_note_fn one,
		    void *ctx, struct uspl_err *err) uspl_must_check;

/* What the word at `at` of the description at addr refers to. */
taddr mark_note_target(taddr addr, long long distance, size_t at);
/* A NUL-terminated text of the module, allocated; NULL if there is none at addr. */
char *mark_note_text(const struct image *image, taddr addr);
/* True if the program has a NOP there that a jump can take the place of. */
bool mark_note_nop(const struct image *image, taddr site);

#endif
