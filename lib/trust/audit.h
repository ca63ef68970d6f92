/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * audit.h - a line in the machine's log for each change of a process, and each refusal
 *
 * It is sent to the socket of journald in its native protocol (systemd, "Native Journal Protocol"),
 * field by field, or, where there is none, as one line to that of syslog (RFC 3164; /dev/log). The
 * policy may name another socket, or none. A log never holds up a command: what isn't taken within
 * AUDIT_WAIT_MS is dropped, and so is, without a wait, all that the same process of ours sends
 * after that.
 */
#ifndef USPL_TRUST_AUDIT_H
#define USPL_TRUST_AUDIT_H

#include "base/error.h"
#include "trust/caller.h"

#define AUDIT_JOURNAL "/run/systemd/journal/socket"
#define AUDIT_SYSLOG "/dev/log"
#define AUDIT_WAIT_MS 100
/* Of one text from elsewhere, escaped; the rest is left out. */
#define AUDIT_TEXT_MAX 512

/* What has happened. NULL and 0: there is none. */
struct audit_event {
	const char *command; /* "apply", "undo", "trace start", ... */
	const char *result;  /* "done", "already", "refused", "failed", "stranded" */
	const char *error;   /* uspl_code_name, of what isn't done */
	const char *message; /* the error's */
	pid_t pid;
	const char *exe, *build_id; /* the program of the process, and what was changed */
	uid_t owner;                /* of the process, if there is a pid */
	const char *update, *digest, *signer;
	double stop_us;
};

/*
 * Sends it. socket: the path that the policy names, "none", or NULL for the machine's own. Fails
 * with USPL_E_SYSTEM if a log is there and doesn't take it; where the machine has no log there is
 * nothing to do.
 */
int audit_send(const struct audit_event *event, const struct caller *caller, const char *socket,
	       struct uspl_err *err) uspl_must_check;

#endif
