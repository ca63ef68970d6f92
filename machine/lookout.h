/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lookout.h - a command that looks at processes does so in a child, and leaves out the one that
 * keeps it waiting
 *
 * A process decides how long a read of its memory, or of a file of its, takes: its pages may be
 * those of a file system that its user serves (FUSE), or ones that it fills in itself
 * (userfaultfd). Such a read can't be ended, but its reader can. So a child looks, and says before
 * each process that it comes to it. If it sleeps there for two seconds without having run, it is
 * killed, and another child begins anew, without that process and without the others of its user.
 * What children print is passed on when one has come to its end.
 *
 *     lookout_begin   in the command, before it looks: the child goes on
 *     lookout_may     before each process
 *     lookout_end     when none is looked at any more
 *     lookout_left    for the notes: which were left out
 */
#ifndef USPL_MACHINE_LOOKOUT_H
#define USPL_MACHINE_LOOKOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "machine/child_output.h"

/*
 * True in the child that is to look, false in the process that was started, when that is done:
 * *ret_status is its exit status then, or a failure since too many processes keep it waiting.
 * Signals end both at once. Where no child can be made the caller looks by itself, however long it
 * takes.
 */
bool lookout_begin(int *ret_status, struct uspl_err *err);
/* False if the process is left out. */
bool lookout_may(pid_t pid);
void lookout_end(void);
/*
 * The ith process that was left out for itself, not for its user, with a message: USPL_E_HOSTILE. 0
 * if there are no more.
 */
pid_t lookout_left(size_t i, struct uspl_err *ret);

/* Says so of a process of that user's: USPL_E_HOSTILE. */
int lookout_fail(pid_t pid, uid_t user, struct uspl_err *err);

/*
 * In the child: prints there from now on, and closes all other descriptors but `keep`; -1: none.
 * False if that can't be.
 */
bool lookout_enter(const struct child_output *output, int keep);

/* When a process was seen to have run last. {0} at first. */
struct lookout_pulse {
	uint64_t switches; /* how often it has given up its processor by then */
	int64_t since_ns;
};

/* True once that child of the caller's has slept for two seconds without having run. */
bool lookout_is_stuck(pid_t child, struct lookout_pulse *pulse);
/* Kills it, and waits for its end for half a second: it may sleep where it can't be killed. */
void lookout_kill(pid_t child);
/* A process's user, whatever it does to its files in /proc; 0, as of root's, if it has gone. */
uid_t lookout_user(pid_t pid);

#endif
