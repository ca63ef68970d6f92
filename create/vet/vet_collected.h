/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vet_collected.h - tables that the linker collects of all sections of a name */
#ifndef USPL_CREATE_VET_VET_COLLECTED_H
#define USPL_CREATE_VET_VET_COLLECTED_H

#include "create/vet/vet_checks.h"

struct objsec;

/* Is a section of such a table, or may it be? */
bool vet_is_collected(const struct diff *diff, const struct objsec *sec);
/*
 * Refuses entries of such tables that come, go or change, unless the author answers for them. Of
 * one that goes and is a static variable of a function it warns.
 */
int vet_collected(const struct diff *diff, const struct unit *unit, struct uspl_err *err);
/* Refuses other entries that have no symbols. */
int vet_collected_nameless(const struct diff *diff, const struct unit *unit, struct uspl_err *err);

#endif
