/* SPDX-License-Identifier: GPL-3.0-or-later */
/* owned_code.h - code out of line that belongs to functions, where these must be empty */
#ifndef USPL_SAFETY_OWNED_CODE_H
#define USPL_SAFETY_OWNED_CODE_H

#include "record/owners.h"

struct safety;

/*
 * Adds to sealed ranges that must be empty the code of their functions that is out of line: all
 * probes, on or off, at sites in one of them, and the bodies of functions that are traced, or were
 * and have a thread inside. Seals them again.
 */
int owned_code_guard(const struct owners *owners, struct safety *safety,
		     struct uspl_err *err) uspl_must_check;

#endif
