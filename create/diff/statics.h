/* SPDX-License-Identifier: GPL-3.0-or-later */
/* statics.h - what the rules by which static locals are paired have in common */
#ifndef USPL_CREATE_DIFF_STATICS_H
#define USPL_CREATE_DIFF_STATICS_H

#include "create/unit/patched_lines.h"
#include "create/unit/unit.h"

DEFINE_AUTO_RELEASE(syms, sym_vec, vec_release)
#define auto_syms __attribute__((cleanup(cleanup_syms_)))

/* Is it a local variable that has no twin yet? This and the next: static_var.c. */
bool static_is_loose(const struct objsym *sym);
/*
 * Do two go by the same name in the source, and are the same part of what has that name? "x.3" and
 * "f.x" are both "x"; see syminfo.counted, too.
 */
bool static_same_name(const struct objsym *a, const struct objsym *b);
/*
 * clang makes several variables of a static structure or array whose members are used by
 * themselves, "s.0", "s.1", and numbers those that are left. Notes which member each is of
 * (syminfo.part): s.0 may be another one in the other build.
 */
int statics_note_parts(struct side *side, struct uspl_err *err) uspl_must_check;
/* Appends that name. */
void static_add_name(const struct objsym *sym, struct buf *buf);
/* The function that a section with code belongs to, NULL for other sections. */
struct objsym *static_user(const struct objsec *sec);
/* May it only be read? */
bool static_is_constant(const struct objsym *sym);

/*
 * Do a variable of the pre build and one of the post build start with the same contents, and have
 * the same size?
 */
bool static_alike(const struct objsym *pre, const struct objsym *post);

/* statics_use.c: does the code of the two builds do the same with them? */
bool static_same_use(const struct objsym *pre, const struct objsym *post);

/*
 * Pairs variables of the two builds of which it is known that those of one list are those of the
 * other, more or fewer. First by size and initial contents, where only one variable has these; then
 * by how they are used. Constants that are alike pair in their order, since no reader could tell
 * them apart. Then the last of one list pairs with the last of the other. False if it stays open
 * which is which. (static_pairs.c)
 */
bool statics_settle(const sym_vec *pre, const sym_vec *post);
/* Records the refusal of what stays open; function: the name that follows `why` in the message. */
int statics_refuse(const struct objsym *var, const char *why, const char *function,
		   struct uspl_err *err);

/* The first rule, statics_scope.c: pairs by function, name and line of the declaration. */
int statics_pair_scopes(struct unit *unit, const struct patched_lines *patched,
			struct uspl_err *err) uspl_must_check;

#endif
