/* SPDX-License-Identifier: MIT */
/* trigger_fire.h - what starts and stops the recording, or keeps what was recorded so far */
#ifndef USPL_RUNTIME_LISTEN_TRIGGER_FIRE_H
#define USPL_RUNTIME_LISTEN_TRIGGER_FIRE_H

#include "runtime/listen/call_ctx.h"

/* Takes the actions of a trigger. */
HIDDEN void trigger_fire(struct uspl_listen_config *config, unsigned actions);

#endif
