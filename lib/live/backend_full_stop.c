// SPDX-License-Identifier: GPL-3.0-or-later
// backend_full_stop.c - the transition's back end that stops every thread

#include "live/backend.h"

const struct transition_backend backend_full_stop = {
	.name = "full stop",
	.prepare = stop_prepare,
	.enter = stop_enter,
	.leave = stop_leave,
};
