// SPDX-License-Identifier: GPL-3.0-or-later
// blocked_place.c - where a thread is blocked

#include "thread/blocked_place.h"

#include <fcntl.h>
#include <unistd.h>

bool blocked_place_read(const struct proc *proc, pid_t tid, struct blocked_place *ret)
{
	struct blocked_place place = { 0 };
	char path[64], text[256], *end;
	auto_close int fd = -1;
	size_t n_args;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", proc->pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (got <= 0)
		return false;
	text[got] = '\0';
	/* "NUMBER ARGUMENTS... SP PC", "-1 SP PC", or "running". */
	place.nr = strtol(text, &end, 10);
	if (end == text)
		return false;
	n_args = place.nr < 0 ? 0 : ARRAY_SIZE(place.args);
	for (size_t i = 0; i < n_args; i++)
		place.args[i] = strtoull(end, &end, 16);
	place.sp = strtoull(end, &end, 16);
	place.pc = strtoull(end, &end, 16);
	if (*end != '\n')
		return false;
	*ret = place;
	return true;
}
