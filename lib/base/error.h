/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * error.h - how a failure travels from where it happens to the user
 *
 * A function that can fail returns 0 or a negative `enum uspl_code`, and takes a `struct uspl_err
 * *` as its last argument. The place that finds the failure writes the sentence; callers may put
 * context in front of it; only a command's main prints it, once. Nothing in lib/ prints, and
 * nothing but main ends the process.
 *
 * Messages are lower case, have no full stop and no line end, quote names with ' ', and label pids
 * and tids.
 */
#ifndef USPL_BASE_ERROR_H
#define USPL_BASE_ERROR_H

#include <stdio.h>
#include "base/types.h"

/* The exit statuses of every tool (docs/contracts.md). */
enum uspl_status {
	USPL_STATUS_DONE = 0,      /* done; "already applied" counts as done */
	USPL_STATUS_REFUSED = 1,   /* refused, nothing changed */
	USPL_STATUS_USAGE = 2,     /* the command line is wrong */
	USPL_STATUS_FAILED = 3,    /* a system call, a file or a build failed, nothing changed */
	USPL_STATUS_STRANDED = 4,  /* the target was changed and could not be put back */
	USPL_STATUS_NO_CHANGE = 5, /* uspl-create: the patch changes no code */
};

/*
 * Every cause of failure: its number, the exit status it ends in, its name in JSON. A cause that a
 * caller or a script may want to tell apart has its own line here.
 */
/* clang-format off */
#define USPL_CODES(X)                                                                     \
	X(USAGE,        2, "usage")        /* wrong option, missing argument */           \
	X(SYSTEM,       3, "system")       /* a system call failed */                     \
	X(NOMEM,        3, "out-of-memory")                                               \
	X(FILE,         3, "bad-file")     /* a file is missing, cut short or damaged */  \
	X(BUILD,        3, "build-failed")                                                \
	X(NO_PROCESS,   3, "no-process")   /* the pid doesn't exist, or died */           \
	X(PERMISSION,   3, "no-permission")                                               \
	X(FORMAT,       1, "unknown-format") /* a version or kind that we don't know */   \
	X(HOSTILE,      1, "hostile")      /* '../' in an archive, sizes that lie */      \
	X(UNSUPPORTED,  1, "unsupported")  /* a limit, see docs/limitations.md */         \
	X(NO_CHANGE,    5, "no-change")                                                   \
	X(NO_MODULE,    1, "no-module")    /* the process doesn't map the program */      \
	X(NO_MATCH,     1, "no-match")     /* the running code isn't the pre code */      \
	X(UNRESOLVED,   1, "unresolved")   /* a symbol has no address in the process */   \
	X(OUT_OF_REACH, 1, "out-of-reach") /* no room within +-2 GB */                    \
	X(BUSY,         1, "busy")         /* a thread is inside */                       \
	X(TRACED,       1, "traced")       /* a debugger is attached */                   \
	X(ZOMBIE,       1, "zombie")                                                      \
	X(UNSTOPPABLE,  1, "unstoppable")  /* a thread doesn't stop in time */            \
	X(PAUSE,        1, "pause")        /* it would stand still for too long */        \
	X(MEMORY_LIMIT, 1, "memory-limit") /* the kernel might kill the target */         \
	X(SECCOMP,      1, "seccomp")                                                     \
	X(OVERWRITTEN,  1, "overwritten")  /* the bytes at a site aren't what we wrote */ \
	X(CANCELLED,    1, "cancelled")    /* ^C before anything was changed */            \
	X(NOT_APPLIED,  1, "not-applied")  /* undo of what isn't there */                 \
	X(CONFLICT,     1, "conflict")     /* another update stands in the way */         \
	X(UNTRUSTED,    1, "untrusted")    /* no signature, or not a good one */          \
	X(POLICY,       1, "policy")       /* the machine's policy doesn't allow it */    \
	X(DATA_CHANGE,  1, "data-change")  /* the diff changes data that is in use */     \
	X(HOOK,         1, "hook")         /* a hook of the update refuses, or fails */   \
	X(UNFINISHED,   4, "unfinished")   /* some threads have gone over, not all */      \
	X(STRANDED,     4, "stranded")     /* could not be put back */                    \
	X(BUG,          3, "bug")          /* our own mistake */
/* clang-format on */

enum uspl_code {
	USPL_OK = 0,
#define X(name, status, json) USPL_E_##name,
	USPL_CODES(X)
#undef X
};

/*
 * A failure. Holds no memory of its own: it may be copied and needs no release. Zero-initialise it
 * (`= { 0 }`).
 */
struct uspl_err {
	enum uspl_code code;
	char msg[1536];
	char hint[1024]; /* "" when there is no way out to offer */
	/* Where the documentation says more, a constant: "docs/authors.md#names"; NULL: nowhere. */
	const char *page;
};

/*
 * Records a failure and returns -code, so that `return uspl_fail(err, USPL_E_BUSY, "...")` is the
 * idiom. Clears an older hint and page. err may be NULL.
 */
int uspl_fail(struct uspl_err *err, enum uspl_code code, const char *fmt, ...) uspl_printf(3, 4);

/*
 * The same for a failed system call: appends ": " and the text of errno. EPERM and EACCES become
 * USPL_E_PERMISSION, ESRCH becomes USPL_E_NO_PROCESS, ENOMEM USPL_E_NOMEM, all others
 * USPL_E_SYSTEM.
 */
int uspl_fail_errno(struct uspl_err *err, const char *fmt, ...) uspl_printf(2, 3);

/* Records "out of memory". */
int uspl_fail_nomem(struct uspl_err *err);

/* Sets the hint line of a failure that is already recorded. */
void uspl_hint(struct uspl_err *err, const char *fmt, ...) uspl_printf(2, 3);

/*
 * Puts context before the message: uspl_context(err, "cannot apply '%s'", name) gives "cannot apply
 * 'x': <message>".
 */
void uspl_context(struct uspl_err *err, const char *fmt, ...) uspl_printf(2, 3);

/* The exit status for a code. Accepts the negative form too. */
enum uspl_status uspl_code_status(int code);

/* The code's name as it stands in JSON output, e.g. "no-match". */
const char *uspl_code_name(int code);

/* Prints "note: MESSAGE\n": what went wrong is no failure of the command. */
void uspl_err_note(FILE *out, const struct uspl_err *err);
/* Prints "PROG: MESSAGE\n" and, where there are some, "hint: HINT\n" and "see: PAGE\n". */
void uspl_err_print(FILE *out, const char *prog, const struct uspl_err *err);

#endif
