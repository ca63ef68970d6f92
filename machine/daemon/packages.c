// SPDX-License-Identifier: GPL-3.0-or-later
// packages.c - what dpkg's upgrades mean for what is enabled

#include "machine/daemon/packages.h"

#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/log.h"
#include "command/permit.h"
#include "machine/wanted.h"
#include "package/dpkg.h"

int packages_open_news(void)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd >= 0 && inotify_add_watch(fd, dpkg_folder(), IN_MOVED_TO | IN_ONLYDIR) >= 0)
		return fd;
	log_info("watch", "there is no news of packages: cannot watch '%s'", dpkg_folder());
	if (fd >= 0)
		close(fd);
	return -1;
}

/* dpkg puts the file in its place when all of it is written. */
bool packages_read_news(int fd)
{
	_Alignas(struct inotify_event) char events[4096];
	bool is_new = false;
	ssize_t got;

	while ((got = read(fd, events, sizeof(events))) > 0)
		for (const char *at = events; at < events + got;) {
			const struct inotify_event *event = (const void *)at;

			is_new |= event->mask & IN_Q_OVERFLOW ||
				  (event->len && !strcmp(event->name, "status"));
			at += sizeof(*event) + event->len;
		}
	return is_new;
}

void packages_let_go(const strvec *superseded, bool quiet)
{
	auto_permit struct permit permit = { 0 };
	struct uspl_err why = { 0 }, unsaid = { 0 };
	char *const *text;

	/* Not asked for leave: the policy's rules are for users. It says where the log is. */
	if (superseded->n && permit_begin(&permit, &why) != 0)
		uspl_err_note(stderr, &why);
	vec_for_each (superseded, text) {
		auto_free char *id = strndup(*text, strcspn(*text, " "));
		const struct audit_event event = { .command = "disable", .update = id };
		int rc = id ? wanted_remove(id, &why) : uspl_fail_nomem(&why);

		/* Another command has disabled it meanwhile. */
		if (rc == -USPL_E_NOT_APPLIED)
			continue;
		if (rc) {
			uspl_context(&why, "cannot disable '%s'", id ? id : "?");
			uspl_err_print(stderr, "uspl-watch", &why);
		} else if (!quiet) {
			printf("disabled %s: %s, which is installed, has the fix\n", id,
			       *text + strlen(id) + 1);
			fflush(stdout);
		}
		if (id && permit_note(&permit, event, rc, &why, &unsaid) != 0)
			uspl_err_note(stderr, &unsaid);
	}
}
