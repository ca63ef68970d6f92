/* SPDX-License-Identifier: MIT */
/* listen.h - the two entries of the listeners */
#ifndef USPL_RUNTIME_LISTEN_LISTEN_H
#define USPL_RUNTIME_LISTEN_LISTEN_H

#include "runtime/listen/call_ctx.h"

/*
 * The two entries, called by head.S. At a return: true if the call's record has been written, and
 * its return address put back; else both are still to be done.
 */
HIDDEN void listen_enter(const struct call *call);
HIDDEN bool listen_leave(struct call *call);

#endif
