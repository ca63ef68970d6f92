/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pending.h - a library that an update changes and the process hasn't loaded
 *
 * The process gets a note that the update is wanted in it: a record without code, in the state
 * PENDING. The next apply that finds the library patches it, and the record goes.
 */
#ifndef USPL_APPLY_PENDING_H
#define USPL_APPLY_PENDING_H

#include "proc/module.h"
#include "record/region.h"
#include "update/update.h"

/* What noting a library has changed, and so what is to be taken back. */
enum pending_change {
	PENDING_KEPT,    /* nothing: it was noted already */
	PENDING_REVIVED, /* an undone record says pending again */
	PENDING_MADE,    /* a new record */
};

struct pending {
	struct region region;
	enum pending_change change;
};

typedef VEC(struct pending) pending_vec;

/*
 * True if the process may come to load the target: the target is a library, and the program has a
 * dynamic linker.
 */
bool pending_is_possible(const struct update_target *target, const module_vec *modules);

/*
 * Notes the target. A record that is there already is moved here from `present`. What was noted is
 * added to `noted`.
 */
int pending_note(struct proc *proc, const module_vec *modules, const struct update *update,
		 const struct update_target *target, region_vec *present, pending_vec *noted,
		 struct uspl_err *err) uspl_must_check;
/* True if anything was noted that wasn't before. */
bool pending_is_news(const pending_vec *noted);
/* Takes back what pending_note has changed. */
void pending_take_back(struct proc *proc, pending_vec *noted);
/* Frees the list; nothing in the target. */
void pending_release(pending_vec *noted);

#endif
