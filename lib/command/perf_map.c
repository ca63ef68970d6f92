// SPDX-License-Identifier: GPL-3.0-or-later
// perf_map.c - the names of new code as perf reads them, in /tmp/perf-PID.map
//
// perf looks there for the names of code that lies in no file (tools/perf/Documentation/
// jit-interface.txt), and takes a file only if it is root's or its own user's.

#include "command/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

void perf_map_add(const struct region *region, struct buf *out)
{
	const struct region_range *name;

	vec_for_each (&region->names, name) {
		buf_addf(out, "%llx %llx ", (unsigned long long)name->addr,
			 (unsigned long long)name->size);
		/* Names come from the process; a line of the map is one function. */
		text_add_printable(out, name->name, strlen(name->name), false);
		buf_addstr(out, " [uspl ");
		text_add_printable(out, region->id, strlen(region->id), false);
		buf_addstr(out, "]\n");
	}
}

/*
 * Opens the file to append to. What is there already has to be ours, and no other name of another
 * file of ours.
 */
static int open_map(const char *path, uint64_t starttime, struct uspl_err *err)
{
	const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	auto_close int fd = open(path, flags);
	struct timespec real, boot;
	double age, lived;
	struct stat st;

	if (fd >= 0 || errno != ENOENT) {
		if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
		    st.st_uid != geteuid() || st.st_nlink != 1)
			return uspl_fail(err, USPL_E_CONFLICT, "'%s' is no file of this user's own",
					 path);
		clock_gettime(CLOCK_REALTIME, &real);
		clock_gettime(CLOCK_BOOTTIME, &boot);
		age = difftime(real.tv_sec, st.st_mtim.tv_sec);
		lived = (double)boot.tv_sec - (double)starttime / (double)sysconf(_SC_CLK_TCK);
		/* To the second: what is a moment older may be of the same process. */
		if (age <= lived + 2)
			return take_fd(fd);
		if (unlink(path) != 0)
			return uspl_fail_errno(
				err, "cannot remove '%s', which is of an older process", path);
		close(take_fd(fd));
	}
	fd = open(path, flags | O_CREAT | O_EXCL, 0644);
	return fd >= 0 ? take_fd(fd) : uspl_fail_errno(err, "cannot make '%s'", path);
}

int perf_map_write(pid_t pid, uint64_t starttime, const region_vec *regions, struct uspl_err *err)
{
	auto_buf struct buf lines = { 0 };
	const struct region *region;
	auto_close int fd = -1;
	char path[64];

	vec_for_each (regions, region)
		perf_map_add(region, &lines);
	if (lines.oom)
		return uspl_fail_nomem(err);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	fd = open_map(path, starttime, err);
	if (fd < 0)
		return fd;
	if (file_write_all(fd, buf_str(&lines), lines.len) != 0)
		return uspl_fail_errno(err, "cannot write '%s'", path);
	return 0;
}
