/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * open_events.h - the kernel tells of each process that opens one of some files
 *
 * By fanotify(7), with a mark on each file: to open other files costs nothing. No process is held
 * up. The dynamic linker opens a library before it maps it.
 */
#ifndef USPL_MACHINE_DAEMON_OPEN_EVENTS_H
#define USPL_MACHINE_DAEMON_OPEN_EVENTS_H

#include "base/cli.h"
#include "base/error.h"

/*
 * *ret_fd is readable when there are events, and the caller's to close. USPL_E_PERMISSION: the user
 * may not (CAP_SYS_ADMIN).
 */
int open_events_open(int *ret_fd, struct uspl_err *err) uspl_must_check;
/* From now on hears of that file. False if there is no such file, or it can't be marked. */
bool open_events_mark(int fd, const char *path);
/* Forgets all files. */
void open_events_forget(int fd);
/* As exec_events_read: the pids that have opened one. */
int open_events_read(int fd, pid_vec *ret, bool *ret_lost, struct uspl_err *err) uspl_must_check;

#endif
