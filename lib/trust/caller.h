/* SPDX-License-Identifier: GPL-3.0-or-later */
/* caller.h - the user that runs the command, and from where */
#ifndef USPL_TRUST_CALLER_H
#define USPL_TRUST_CALLER_H

#include "base/types.h"

#define CALLER_NOBODY ((uid_t)-1)

struct caller {
	uid_t uid;      /* the real user of the process */
	uid_t loginuid; /* that has logged in, as the kernel keeps it; CALLER_NOBODY: none has */
	uid_t sudo_uid; /* that has called sudo(8), as sudo says; CALLER_NOBODY */
	/*
	 * The one that is meant: loginuid, which no program that the user runs can change, else
	 * sudo_uid, else uid.
	 */
	uid_t by;
	char tty[64]; /* the terminal that stdin, stdout or stderr is; "" */
	/* It may change processes of other users: root, CAP_SYS_PTRACE. */
	bool privileged;
};

/*
 * Finds it out (proc(5) on loginuid; sudo(8) on SUDO_UID). Can't fail: what isn't known stays out.
 */
void caller_find(struct caller *ret);
/* A user's name, or the number, in text of that size. */
void caller_name(uid_t uid, char *text, size_t size);

#endif
