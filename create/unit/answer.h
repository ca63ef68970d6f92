/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * answer.h - what the author of a patch has seen to (USPL_ANSWERS of uspl/hook.h)
 *
 * A check that would refuse something with a name asks first whether there is an answer for it.
 */
#ifndef USPL_CREATE_UNIT_ANSWER_H
#define USPL_CREATE_UNIT_ANSWER_H

#include "base/types.h"

struct diff;
struct objsec;
struct objsym;
struct uspl_err;

/*
 * Finds the answers in the units after the patch that aren't there before it: those are of earlier
 * patches of the same sources.
 */
int answer_read(struct diff *diff, struct uspl_err *err) uspl_must_check;
/*
 * The next text of a section of such texts at *at or behind it, which moves on; NULL if there is
 * none.
 */
const char *answer_next_text(const struct objsec *sec, uint64_t *at);
/* True if there is one for that name, which counts as used from then on. */
bool answer_given(const struct diff *diff, const char *name);
/* The same for a symbol: by the name that people write, or as the object has it. */
bool answer_given_for(const struct diff *diff, const struct objsym *sym);
/* Warns of those that nothing has asked for. */
void answer_warn_unused(const struct diff *diff);

#endif
