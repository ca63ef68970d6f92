/* SPDX-License-Identifier: GPL-3.0-or-later */
/* talk.h - a dialogue: hello, name, bye */
#ifndef TALK_H
#define TALK_H

#include "target.h"

extern int steps;
int talk(struct pt *pt, const char *word);

#endif
