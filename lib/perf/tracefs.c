// SPDX-License-Identifier: GPL-3.0-or-later
// tracefs.c - the ids of the kernel's tracepoints

#include "perf/tracefs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/file.h"

static const char *const mounted[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

int tracefs_id(const char *system, const char *name, uint64_t *ret, struct uspl_err *err)
{
	auto_close int context = -1, root = -1, fd = -1;
	auto_buf struct buf path = { 0 }, text = { 0 };
	int rc = -USPL_E_FILE;

	buf_addf(&path, "events/%s/%s/id", system, name);
	for (size_t i = 0; rc && i < ARRAY_SIZE(mounted); i++) {
		auto_buf struct buf full = { 0 };

		buf_addf(&full, "%s/%s", mounted[i], buf_str(&path));
		rc = file_read(buf_str(&full), &text, NULL);
	}
	if (rc) {
		/* Mounted for this descriptor alone. */
		context = fsopen("tracefs", FSOPEN_CLOEXEC);
		if (context >= 0 && fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
			root = fsmount(context, FSMOUNT_CLOEXEC, 0);
		if (root >= 0)
			fd = openat(root, buf_str(&path), O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			rc = uspl_fail_errno(err, "cannot open '%s' of tracefs", buf_str(&path));
		else
			rc = file_read_fd(fd, buf_str(&path), &text, err);
	}
	if (rc) {
		uspl_context(err, "the tracepoint %s:%s", system, name);
		uspl_hint(err, "it takes root; if the kernel is older than 5.2, tracefs, too: "
			       "mount -t tracefs none /sys/kernel/tracing");
		return rc;
	}
	*ret = strtoull(buf_str(&text), NULL, 10);
	return 0;
}
