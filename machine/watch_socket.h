/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * watch_socket.h - how other commands ask a watch that runs
 *
 * The watch listens on a socket in the folder of enabled updates, and answers each connection with
 * its state as JSON (uspl-watch(1)). Only the folder's owner may connect.
 */
#ifndef USPL_MACHINE_WATCH_SOCKET_H
#define USPL_MACHINE_WATCH_SOCKET_H

#include <sys/types.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

#define WATCH_SOCKET "watch.sock"

/*
 * A socket that listens there, readable for its owner only; one that a dead watch has left is
 * replaced. The caller closes it, and has made sure that it is the only watch.
 */
int watch_socket_listen(int *ret_fd, struct uspl_err *err) uspl_must_check;

/* The watch's answer, which the caller frees. USPL_E_NO_PROCESS: none runs. */
int watch_socket_ask(char **ret, struct uspl_err *err) uspl_must_check;

/* Why the watch hasn't given an update to a process. The strings are its own. */
struct watch_reason {
	pid_t pid;
	char *id;      /* the update's */
	char *message; /* of the last try */
	bool waiting;  /* it will be tried again; false: it is refused */
};

typedef VEC(struct watch_reason) watch_reason_vec;

/*
 * Asks for all of these. Nothing is appended if no watch runs, or its answer can't be read: what a
 * watch says is an addition.
 */
void watch_socket_reasons(watch_reason_vec *ret);
/* Frees the strings and the array. */
void watch_reasons_release(watch_reason_vec *reasons);

DEFINE_AUTO_RELEASE(watch_reasons, watch_reason_vec, watch_reasons_release)
#define auto_watch_reasons __attribute__((cleanup(cleanup_watch_reasons_)))

#endif
