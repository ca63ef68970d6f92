/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vet_checks.h - the checks of the files vet_*.c, for vet.c */
#ifndef USPL_CREATE_VET_VET_CHECKS_H
#define USPL_CREATE_VET_VET_CHECKS_H

struct diff;
struct uspl_err;
struct unit;

/* A reason to refuse, looked for in one unit: 0, or a refusal with its sentence. */
typedef int (*vet_fn)(const struct diff *diff, const struct unit *unit, struct uspl_err *err);

/*
 * Refuses types that the program's objects have and that mean something else after the patch; warns
 * of what fits the old objects but differs. Once for all units.
 */
int vet_types(const struct diff *diff, struct uspl_err *err);
/*
 * vet_bindings.c: refuses a global name that comes or goes, if code or data that isn't in the
 * update refers to it. Once for all units.
 */
int vet_bindings(const struct diff *diff, struct uspl_err *err);
/* vet_bindings.c: refuses a function's name that goes from one function to another. */
int vet_names(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* Refuses another signature of a function that a library offers to others. */
int vet_exports(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/*
 * Never refuses; warns of new names of a program, or library, that has its names looked up while it
 * runs: the dynamic linker knows those that it was linked with.
 */
int vet_warn_lookups(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* Never refuses; warns of another signature of a function that is called by pointers, too. */
int vet_warn_signatures(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* Refuses another size or initial value of a variable that exists. */
int vet_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/*
 * Refuses to use a variable that exists as one that may be written, or is aligned higher, where it
 * wasn't.
 */
int vet_storage(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* Refuses data that would go on pointing to a replaced table, or into replaced code. */
int vet_replaced_tables(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* Refuses new variables that can't be carried, since they share their section with others. */
int vet_new_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* Refuses a new variable that may be an old one, moved from another unit. */
int vet_moved_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err);

/* vet_sort.c: refuses a variable that becomes thread-local, or no longer is. */
int vet_thread_variables(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_sort.c: refuses a function that becomes an indirect one, or no longer is. */
int vet_indirect(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_sort.c: refuses a variable of the unit's own in place of another's of the same name. */
int vet_own_variables(const struct diff *diff, const struct unit *unit, struct uspl_err *err);

/* vet_cxx.c: refuses another layout of a class's table of virtual functions. */
int vet_virtual_functions(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_cxx.c: refuses a new variable whose constructor would have to run at the program's start. */
int vet_constructed_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_cxx.c: refuses a constructor of a variable that exists and had none. */
int vet_guards(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_once.c: never refuses; warns of another initialiser of a static variable, which has run. */
int vet_warn_initialised(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_cxx.c: refuses another list of thread_local variables that are made for each thread. */
int vet_thread_start(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_local.c: refuses classes of one name and function if it can't be told which is which. */
int vet_local_classes(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_block.c: refuses clang's blocks if it can't be told which is which. */
int vet_blocks(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_label.c: refuses code that may go on at a label of the code that it replaces. */
int vet_labels(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_label.c: never refuses; warns of constants whose address the process may have kept. */
int vet_warn_addresses(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_enum.c: never refuses; warns of other values of enumerators whose type has no name. */
int vet_warn_enumerators(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_coroutine.c: refuses coroutines that may not go on where they were suspended. */
int vet_coroutines(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_cxx.c: refuses static locals of one name and function when one was added or removed. */
int vet_numbered_statics(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_cxx.c: refuses a variable of an inline function that other units may have brought in. */
int vet_shared_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/*
 * vet_seed.c: refuses a variable in the place of a constant that something was computed with, and
 * warns of other ones.
 */
int vet_seeds(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_rename.c: refuses a new variable that may be an old one under another name. */
int vet_renamed_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* vet_rename.c: never refuses; warns where a class of C++ may have got another name. */
int vet_warn_classes(const struct diff *diff, const struct unit *unit, struct uspl_err *err);

#endif
