/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * journal.h - what root has applied
 *
 * The truth about what is applied is in the processes themselves, and a process can say of itself
 * what it likes. So a command of root's that looks for an update in all processes must know what it
 * may believe. For that there is a file for each update that root has applied, in a folder that
 * root alone can write. The file has the update's description and patch, to compare with what a
 * process says. The folder is empty after a start of the machine, as is all processes' memory.
 * docs/security.md says what follows from a journal that is missing.
 */
#ifndef USPL_RECORD_JOURNAL_H
#define USPL_RECORD_JOURNAL_H

#include "record/region.h"

/* Unless the environment has another one, in USPL_JOURNAL. */
#define JOURNAL_DIR "/run/uspl"

/* Notes that the update was applied. Nothing to do, and no failure, for others than root. */
int journal_note(const struct region *region, struct uspl_err *err) uspl_must_check;
/*
 * True if a process of that user may be believed when its record says that it holds the update: it
 * is one's own, or root's, or the journal has the same description and patch.
 */
bool journal_agrees(const struct region *region, uid_t uid);
/*
 * The id of an update that root has applied and that may have been meant by one that isn't applied;
 * false if none is near, and for others than root.
 */
bool journal_nearest(const char *id, char ret[USPL_ID_MAX]);
/* Forgets the update: it is undone everywhere. */
void journal_forget(const char *id);

#endif
