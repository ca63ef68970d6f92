/* SPDX-License-Identifier: GPL-3.0-or-later */
/* marked_guard.h - code out of line that belongs to functions, where these must be empty */
#ifndef USPL_SAFETY_MARKED_GUARD_H
#define USPL_SAFETY_MARKED_GUARD_H

#include "record/probe_records.h"

struct safety;

/*
 * Adds to sealed ranges that must be empty what of their functions is out of line: the code of all
 * probes, on or off, at sites in one of them, and the bodies of those that are traced, or were and
 * have somebody inside; seals them again.
 */
int marks_guard(const struct marks *marks, struct safety *safety,
		struct uspl_err *err) uspl_must_check;

#endif
