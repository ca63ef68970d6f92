/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policy_words.h - the words that a policy's lists may have */
#ifndef USPL_TRUST_POLICY_WORDS_H
#define USPL_TRUST_POLICY_WORDS_H

#include "trust/policy.h"

/* True for a command that rules tell apart: apply, undo, trace, enable. */
bool policy_words_know_command(const char *word, size_t len);
/* True for a day of the week: Mon to Sun. */
bool policy_words_know_day(const char *word, size_t len);
/* The command's word. */
const char *policy_words_command(enum policy_command command);
/* The word of a day, 0 being Sunday, as in struct tm. */
const char *policy_words_day(int day);

#endif
