/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exec_events.h - the kernel tells of each program that a process of this machine executes
 *
 * By its process events connector (Documentation/driver-api/connector.rst, linux/cn_proc.h), which
 * knows all processes, whatever namespaces they are in. Forks and ends aren't heard of: a filter in
 * the kernel drops them before anything is woken.
 */
#ifndef USPL_MACHINE_DAEMON_EXEC_EVENTS_H
#define USPL_MACHINE_DAEMON_EXEC_EVENTS_H

#include "base/cli.h"
#include "base/error.h"

/*
 * Begins to listen; *ret_fd is readable when there are events, and the caller's to close.
 * USPL_E_PERMISSION: the user may not (CAP_NET_ADMIN). USPL_E_UNSUPPORTED: this kernel has none
 * (CONFIG_PROC_EVENTS), or the caller isn't in the first pid, user and network namespaces.
 */
int exec_events_open(int *ret_fd, struct uspl_err *err) uspl_must_check;
/* Lets it hear of executions, or of nothing, so that it isn't woken; it begins with executions. */
int exec_events_listen(int fd, bool listen, struct uspl_err *err) uspl_must_check;
/*
 * Appends the pids that have executed a program since; doesn't wait. *ret_lost is set if some were
 * dropped, since they came faster than they were read.
 */
int exec_events_read(int fd, pid_vec *ret, bool *ret_lost, struct uspl_err *err) uspl_must_check;

#endif
