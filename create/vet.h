/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vet.h - the checks of vet_data.c, for the table in vet.c */
#ifndef USPL_CREATE_VET_H
#define USPL_CREATE_VET_H

#include "create/differ.h"

/* A reason to refuse, looked for in one unit: 0, or a refusal with its sentence. */
typedef int (*vet_fn)(const struct diff *diff, const struct unit *unit, struct uspl_err *err);

/* Refuses another size or initial value of a variable that exists. */
int vet_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* Refuses data that would go on pointing to a replaced table, or into replaced code. */
int vet_replaced_tables(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* Refuses new variables that can't be carried: thread-local ones, entries of linker's tables. */
int vet_new_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* Refuses a new variable that may be an old one, moved from another unit. */
int vet_moved_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err);

#endif
