/* SPDX-License-Identifier: MIT */
/* trigger.h - what starts and stops the recording, or keeps what was recorded so far */
#ifndef USPL_LISTEN_TRIGGER_H
#define USPL_LISTEN_TRIGGER_H

#include "runtime/listen/heard.h"

/* Takes the actions of a trigger. */
HIDDEN void trigger_fire(struct uspl_desk *desk, unsigned actions);

#endif
