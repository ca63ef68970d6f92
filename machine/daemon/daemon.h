/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * daemon.h - the service that gives what is enabled to processes as they begin
 *
 * It sleeps until the kernel or the folder of enabled updates has news (exec_events.h,
 * open_events.h, inotify), holds the process in question against names and build-ids (goals.h), and
 * lets uspl-apply work on those that may be meant (batch.h). An event is no more than a hint: after
 * work was done, and where events may be missing, all processes are looked at once (a sweep), so
 * that none is left out for good. What is refused for a reason that may pass, a busy function, is
 * tried again.
 */
#ifndef USPL_MACHINE_DAEMON_DAEMON_H
#define USPL_MACHINE_DAEMON_DAEMON_H

#include "base/error.h"

/*
 * Runs until SIGTERM or SIGINT, and ends when the work that was begun has ended. Reads the list
 * anew after SIGHUP, too. USPL_E_CONFLICT: another watch is at work on the same folder. Errors of
 * exec_events_open and open_events_open.
 */
int daemon_run(bool quiet, struct uspl_err *err) uspl_must_check;

#endif
