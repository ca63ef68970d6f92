/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unpack.h - a tarball's parts, taken out by a process of its own that can do nothing else */
#ifndef USPL_UPDATE_UNPACK_H
#define USPL_UPDATE_UNPACK_H

#include "update/parts.h"

/*
 * tarball_read in a child that has given up all rights (CONFINE_FILE of base/confine.h): what
 * gzip's and tar's readers do with a stranger's bytes can neither reach a file nor another process.
 * What the child says is trusted as little as the tarball: names, sizes and numbers are checked
 * again. Costs a fork and a copy of the parts, some 0.5 ms for an update of 100 KB.
 *
 * Fails as tarball_read does; USPL_E_FILE also if the child dies of what it reads, or doesn't
 * answer for a minute, USPL_E_CANCELLED after a signal. The child is gone when this returns.
 */
int unpack_apart(const void *data, size_t len, struct parts *parts,
		 struct uspl_err *err) uspl_must_check;

#endif
