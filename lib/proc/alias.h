/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alias.h - the names by which a process's program was started, besides that of its file */
#ifndef USPL_PROC_ALIAS_H
#define USPL_PROC_ALIAS_H

#include "base/cleanup.h"
#include "base/vec.h"
#include "proc/proc.h"

typedef VEC(char *) alias_vec;

/*
 * The last part of the path that it was executed by, which may have been a link's (AT_EXECFN, see
 * getauxval(3)), and of its argv[0] up to a blank or ':', for titles like "nginx: master process".
 * The program may have overwritten either: they are hints. What can't be read is left out; the list
 * is the caller's to release.
 */
int aliases_read(const struct proc *proc, alias_vec *ret, struct uspl_err *err) uspl_must_check;
void aliases_release(alias_vec *aliases);
DEFINE_AUTO_RELEASE(aliases, alias_vec, aliases_release)
#define auto_aliases __attribute__((cleanup(cleanup_aliases_)))

#endif
