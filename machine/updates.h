/* SPDX-License-Identifier: GPL-3.0-or-later */
/* updates.h - the updates that a command line names, in the order in which they are applied */
#ifndef USPL_MACHINE_UPDATES_H
#define USPL_MACHINE_UPDATES_H

#include "machine/wanted.h"
#include "update/update.h"

typedef VEC(struct update *) update_vec;
typedef VEC(const char *) update_paths;

/*
 * Moves the updates among n operands to ret_paths, and leaves the others at their beginning;
 * *ret_rest counts them. The first operand is an update, and so is each other one that is called
 * like one (NAME.tar.gz) or is the folder of an unpacked one.
 */
int updates_pick(char **words, int n, update_paths *ret_paths, int *ret_rest,
		 struct uspl_err *err) uspl_must_check;
/*
 * Reads them, and puts each behind those that it was made on top of (its `after`), else as they are
 * given; paths has the same order then. USPL_E_USAGE if two have one id, or need each other. The
 * rest as update_read_signed.
 */
int updates_read(update_paths *paths, const struct signature_terms *terms, update_vec *ret,
		 struct uspl_err *err) uspl_must_check;
/*
 * The same for the list of enabled updates; the paths are the list's, and terms those of
 * wanted_load. One that is damaged or no longer trusted is left out, and told of on stderr, by the
 * command's name. USPL_E_USAGE if two need each other.
 */
int updates_wanted(const wanted_vec *wanted, const struct signature_terms *terms, const char *prog,
		   update_paths *paths, update_vec *ret, struct uspl_err *err) uspl_must_check;
void updates_release(update_vec *updates);
DEFINE_AUTO_RELEASE(updates, update_vec, updates_release)
#define auto_updates __attribute__((cleanup(cleanup_updates_)))

#endif
