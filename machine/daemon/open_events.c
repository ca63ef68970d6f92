// SPDX-License-Identifier: GPL-3.0-or-later
// open_events.c - the kernel tells of each process that opens one of some files

#include "machine/daemon/open_events.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/fanotify.h>
#include <unistd.h>

int open_events_open(int *ret_fd, struct uspl_err *err)
{
	*ret_fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK,
				O_RDONLY | O_CLOEXEC | O_LARGEFILE);
	if (*ret_fd >= 0)
		return 0;
	if (errno == ENOSYS)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "this kernel has no fanotify");
	return uspl_fail_errno(err, "cannot listen to what is opened (fanotify)");
}

bool open_events_mark(int fd, const char *path)
{
	return fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, path) == 0;
}

void open_events_forget(int fd)
{
	fanotify_mark(fd, FAN_MARK_FLUSH, 0, AT_FDCWD, NULL);
}

int open_events_read(int fd, pid_vec *ret, bool *ret_lost, struct uspl_err *err)
{
	_Alignas(struct fanotify_event_metadata) char events[4096];
	const struct fanotify_event_metadata *event;
	ssize_t got;

	while ((got = read(fd, events, sizeof(events))) > 0) {
		for (event = (const void *)events; FAN_EVENT_OK(event, got);
		     event = FAN_EVENT_NEXT(event, got)) {
			int rc;

			if (event->fd >= 0)
				close(event->fd);
			if (event->mask & FAN_Q_OVERFLOW) {
				*ret_lost = true;
				continue;
			}
			rc = cli_add_pid(ret, event->pid, err);
			if (rc)
				return rc;
		}
	}
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		return uspl_fail_errno(err, "cannot read what is opened (fanotify)");
	return 0;
}
