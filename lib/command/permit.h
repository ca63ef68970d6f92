/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * permit.h - what the machine's policy says of a command, and the note of what the command did
 *
 * A command that changes processes reads the policy once, at its beginning, asks for each process
 * when that is open and before anything of it is changed, and leaves a note in the machine's log
 * when the process runs again.
 */
#ifndef USPL_COMMAND_PERMIT_H
#define USPL_COMMAND_PERMIT_H

#include "proc/proc.h"
#include "trust/audit.h"
#include "trust/policy.h"
#include "trust/signature.h"

struct permit {
	struct caller caller;
	struct policy policy;
};

/* Reads the policy. USPL_E_POLICY: it can't be read, and would bind the caller. */
int permit_begin(struct permit *permit, struct uspl_err *err) uspl_must_check;
void permit_release(struct permit *permit);
/* What is asked of the file of an update that is to be applied or enabled. */
struct signature_terms permit_terms(const struct permit *permit);
/*
 * Asks for one process, which is open and locked; signer may be NULL. *ret_longest_stop_s, in
 * seconds, becomes less where the policy asks for that; 0 is no limit. permit may be NULL: all is
 * allowed. USPL_E_POLICY: it isn't.
 */
int permit_process(const struct permit *permit, enum policy_command command,
		   const struct proc *proc, const char *update,
		   const struct signature_signer *signer, double *ret_longest_stop_s,
		   struct uspl_err *err) uspl_must_check;
/* The same by a pid, for commands that open the process later. */
int permit_pid(const struct permit *permit, enum policy_command command, pid_t pid,
	       double *ret_longest_stop_s, struct uspl_err *err) uspl_must_check;
/* Asks for what concerns no process yet: that an update is enabled, or isn't any more. */
int permit_enable(const struct permit *permit, const char *update,
		  const struct signature_signer *signer, struct uspl_err *err) uspl_must_check;
/*
 * Sends a note of what was done, or of why it wasn't: rc, and why where that is less than 0. Fills
 * in the event's result, error, message, exe and owner. Fails as audit_send does: what was done is
 * done all the same.
 */
int permit_note(const struct permit *permit, struct audit_event event, int rc,
		const struct uspl_err *why, struct uspl_err *err) uspl_must_check;

DEFINE_AUTO_RELEASE(permit, struct permit, permit_release)
#define auto_permit __attribute__((cleanup(cleanup_permit_)))

#endif
