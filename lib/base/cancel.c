// SPDX-License-Identifier: GPL-3.0-or-later
// cancel.c - ^C between two steps instead of in the middle of one

#include "base/cancel.h"

#include <signal.h>

static volatile sig_atomic_t requested;

static void note(int sig)
{
	(void)sig;
	requested = 1;
}

void cancel_catch(void)
{
	struct sigaction action = { .sa_handler = note };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

bool cancel_requested(void)
{
	return requested;
}

bool cancel_pending(void)
{
	sigset_t pending;

	return requested || (sigpending(&pending) == 0 &&
			     (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
			      sigismember(&pending, SIGHUP)));
}

void cancel_forget(void)
{
	requested = 0;
}

int cancel_check(struct uspl_err *err)
{
	return requested ? uspl_fail(err, USPL_E_CANCELLED, "interrupted") : 0;
}
