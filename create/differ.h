/* SPDX-License-Identifier: GPL-3.0-or-later */
/* differ.h - the steps of the differ, in their order; diff.h is what others see */
#ifndef USPL_CREATE_DIFFER_H
#define USPL_CREATE_DIFFER_H

#include "create/unit.h"

/*
 * Gives each reference its one form: by the symbol for a function as something to call and for a
 * named variable, by the section for literals and for places within code.
 */
int normalise(struct side *side, struct uspl_err *err) uspl_must_check;

/*
 * Pairs the symbols of all units and gives each its refname. Refuses pairs that can't be told
 * apart.
 */
int correlate(struct diff *diff, struct uspl_err *err) uspl_must_check;
/* The part of it that pairs functions within functions. */
int pair_nested(struct unit *unit, struct uspl_err *err) uspl_must_check;
/* The part of it that pairs static locals; functions must be paired before. */
int pair_statics(struct unit *unit, struct uspl_err *err) uspl_must_check;
/*
 * The parts of it that pair what the preprocessor has numbered: functions before names are paired,
 * variables once functions are.
 */
int pair_counted_functions(struct unit *unit, struct uspl_err *err) uspl_must_check;
int pair_counted_variables(struct unit *unit, struct uspl_err *err) uspl_must_check;

/*
 * Sets part.reason of all functions that differ and of the constant tables that changed with
 * them, and ident.changed of variables whose size or initial contents differ.
 */
int compare(struct diff *diff, struct uspl_err *err) uspl_must_check;

/* A stretch of a section. */
struct range {
	const struct objsec *sec;
	uint64_t at, len;
};

/*
 * True if two ranges of the same length are equal in bytes and in references. depth: how many
 * literals lead here, to bound the recursion; 0 at first.
 */
bool range_equal(const struct range *pre, const struct range *post, int depth);
/* Where two ranges that aren't equal begin to differ: the distance from their starts. */
uint64_t range_first_difference(const struct range *pre, const struct range *post);
/* True if what lies at the two places of two literal sections is the same, as far as it reaches. */
bool literal_equal(const struct objsec *pre, int64_t pre_at, const struct objsec *post,
		   int64_t post_at, int depth);
/* True if a section holds strings that linkers merge. */
bool literal_is_string(const struct objsec *sec);
/*
 * True if a reference to a merged literal, by the literal's own symbol, leads to a place outside
 * it.
 */
bool literal_is_left(const struct objsec *from, const struct objrel *rel);
/* True, after normalise, for the symbol of such a reference. It has no name that means anything. */
bool literal_is_anchor(const struct objsym *sym);
/* True for a distance from the place of the reference (PC32, PLT32). */
bool reference_is_relative(const struct objrel *rel);
/*
 * Where in its section a reference to a symbol of a section points; `from` is the section that
 * rel lies in.
 */
int64_t reference_target(const struct objsec *from, const struct objrel *rel);

/* Marks everything that new.o has to carry. */
int select_parts(struct diff *diff, struct uspl_err *err) uspl_must_check;

/*
 * Refuses what must not be put into a running process: first what shows in the objects, then what
 * shows in the differences.
 */
int vet_objects(const struct diff *diff, struct uspl_err *err) uspl_must_check;
int vet_changes(const struct diff *diff, struct uspl_err *err) uspl_must_check;

/* Makes better reasons of "changed" where the debugging information knows one. */
int give_reasons(struct diff *diff, struct uspl_err *err) uspl_must_check;
/*
 * Appends to the report what a reviewer wants to know: for everything that is carried why it is,
 * and a summary.
 */
int explain(const struct diff *diff, struct uspl_err *err) uspl_must_check;

/*
 * Which units have pre code that is to be matched: those that carry something, and those that a
 * carried function came from (emit_mark.c).
 */
void emit_mark_units(struct diff *diff);
/* What of a unit's pre build is carried: all its code, and the literals that it refers to. */
void emit_mark_pre(struct unit *unit);
/* Makes new.o. */
int emit_new(struct diff *diff, struct update_target *target, struct uspl_err *err) uspl_must_check;
/*
 * Chooses units that are the same in both builds and tell where things are that new.o refers to and
 * the units of pre.o know nothing of. ret has room for diff->n_inputs; after emit_new.
 */
int helpers_choose(const struct diff *diff, const struct objfile *new_code, struct diff_unit *ret,
		   size_t *ret_n, struct uspl_err *err) uspl_must_check;
/* Makes pre.o, with all code of the helpers in it, and the list of redirected functions. */
int emit_pre(struct diff *diff, struct diff *helpers, struct update_target *target,
	     struct uspl_err *err) uspl_must_check;
/*
 * All pre code of all units, the literals that it refers to, and the variables that begin with
 * pointers, as one object.
 */
int emit_whole(struct diff *diff, struct objfile **ret, struct uspl_err *err) uspl_must_check;
/* The last part of it: the functions of the program that new.o has new code for. */
int list_functions(const struct diff *diff, struct update_target *target,
		   struct uspl_err *err) uspl_must_check;

/*
 * Notes at each function with exception handling where its language specific data lie and who
 * reads them.
 */
int unwind_index(const struct unit *unit, const struct side *side,
		 struct uspl_err *err) uspl_must_check;
/*
 * The call frame information of the carried functions of a unit: appends the records to buf and
 * their relocations, in terms of the post object's symbols, to rels.
 */
struct buf;
typedef VEC(struct objrel) objrel_vec;
int unwind_collect(const struct unit *unit, struct buf *buf, objrel_vec *rels,
		   struct uspl_err *err) uspl_must_check;

#endif
