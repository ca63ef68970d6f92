/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alias.h - the names by which a process's program was started, besides that of its file */
#ifndef USPL_PROC_ALIAS_H
#define USPL_PROC_ALIAS_H

#include "base/cleanup.h"
#include "base/strvec.h"
#include "proc/proc.h"

/*
 * The last part of the path that it was executed by, which may have been a link's (AT_EXECFN, see
 * getauxval(3)), and of its argv[0] up to a blank or ':', for titles like "nginx: master process".
 * The program may have overwritten either: they are hints. What can't be read is left out; the list
 * is the caller's to release.
 */
int aliases_read(const struct proc *proc, strvec *ret, struct uspl_err *err) uspl_must_check;

#endif
