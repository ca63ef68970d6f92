/* SPDX-License-Identifier: GPL-3.0-or-later */
/* explain.h - explains an update to reviewers */
#ifndef USPL_CREATE_EXPLAIN_H
#define USPL_CREATE_EXPLAIN_H

#include "base/types.h"

struct diff;
struct uspl_err;

/*
 * Appends to the report what a reviewer wants to know: for everything that is carried why it is,
 * and a summary.
 */
int explain(const struct diff *diff, struct uspl_err *err) uspl_must_check;

#endif
