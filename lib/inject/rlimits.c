// SPDX-License-Identifier: GPL-3.0-or-later
// rlimits.c - limits of a process on what it may map, lifted for the moment of a mapping
/*
 * A tool may be killed at any instant, and the limits have to be put back all the same. So a child
 * of the tool does that, in a session of its own, which signals for the tool's process group don't
 * reach: when the pipe to it is closed, by the tool or by its death.
 */

#include "inject/rlimits.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

static const int lifted[] = { RLIMIT_AS, RLIMIT_DATA, RLIMIT_MEMLOCK };

struct old_limits {
	struct rlimit limits[ARRAY_SIZE(lifted)];
	bool changed[ARRAY_SIZE(lifted)];
};

static bool read_limits(pid_t pid, struct old_limits *ret)
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(lifted); i++) {
		if (prlimit(pid, lifted[i], NULL, &ret->limits[i]) != 0)
			return false;
		ret->changed[i] = ret->limits[i].rlim_cur != RLIM_INFINITY;
		any |= ret->changed[i];
	}
	return any;
}

/* In the child. The child says with a byte whether there is something to be put back. */
static void keep(pid_t pid, const struct old_limits *old, int told, int says)
{
	static const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	char any = 0;

	setsid();
	/* As far as it is permitted: a hard limit is root's to raise. */
	for (size_t i = 0; i < ARRAY_SIZE(lifted); i++) {
		const struct rlimit most = { old->limits[i].rlim_max, old->limits[i].rlim_max };

		if (!old->changed[i])
			continue;
		any |= prlimit(pid, lifted[i], &none, NULL) == 0 ||
		       (most.rlim_cur != old->limits[i].rlim_cur &&
			prlimit(pid, lifted[i], &most, NULL) == 0);
	}
	if (write(says, &any, 1) == 1 && any)
		while (read(told, &any, 1) < 0 && errno == EINTR)
			;
	for (size_t i = 0; i < ARRAY_SIZE(lifted); i++)
		if (old->changed[i])
			prlimit(pid, lifted[i], &old->limits[i], NULL);
	/* Ends only the child: what the tool does at its end isn't for the child to do. */
	syscall(SYS_exit_group, 0);
}

bool rlimits_lift(const struct proc *proc, struct rlimits *ret)
{
	struct old_limits old;
	int tell[2], say[2];
	char any = 0;

	if (!read_limits(proc->pid, &old) || pipe(tell) != 0)
		return false;
	if (pipe(say) != 0) {
		close(tell[0]);
		close(tell[1]);
		return false;
	}
	ret->told = tell[1];
	ret->keeper = fork();
	if (!ret->keeper) {
		close(tell[1]);
		close(say[0]);
		keep(proc->pid, &old, tell[0], say[1]);
	}
	close(tell[0]);
	close(say[1]);
	if (ret->keeper < 0 || read(say[0], &any, 1) != 1)
		any = 0;
	close(say[0]);
	if (!any)
		rlimits_restore(ret);
	return any;
}

void rlimits_restore(struct rlimits *limits)
{
	close(limits->told);
	if (limits->keeper > 0)
		waitpid(limits->keeper, NULL, 0);
}

/* What one mapping of several parts takes, and those that it splits. */
#define MAPPINGS_NEAR 16

void rlimits_hint(const struct proc *proc, int64_t error, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	mapping_vec maps = { 0 };
	size_t n, most = SIZE_MAX;

	if (error != ENOMEM && error != EAGAIN)
		return;
	if (file_read("/proc/sys/vm/max_map_count", &text, NULL) == 0)
		most = strtoul(buf_str(&text), NULL, 10);
	n = proc_read_maps(proc, &maps, NULL) == 0 ? maps.n : 0;
	mappings_release(&maps);
	if (n + MAPPINGS_NEAR > most)
		uspl_hint(err,
			  "the process has %zu mappings, and vm.max_map_count allows %zu: raise it",
			  n, most);
	else
		uspl_hint(err,
			  "the process is at one of its limits: address space, data size or locked "
			  "memory (/proc/%d/limits)",
			  proc->pid);
}
