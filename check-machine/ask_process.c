// SPDX-License-Identifier: GPL-3.0-or-later
// ask_process.c - what would stop an update or a trace of one process
/*
 * The process is only looked at, from outside. Whether it has given up memory that is writable and
 * executable (PR_SET_MDWE) can't be seen: the kernel tells that to the process alone.
 */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/file.h"
#include "check-machine/ask.h"
#include "proc/memcg.h"
#include "proc/proc_lock.h"
#include "proc/task.h"
#include "record/region.h"
#include "thread/blocked.h"
#include "thread/vm_sharers.h"

/* What an update may take at least, and as many mappings as one module's. */
#define NEED_BYTES (512ull << 10)
#define NEED_MAPPINGS 6

/* Under a filter the process counts as the trial that is under one. */
static void ask_filter(struct ask *ask, const struct proc *proc, struct answers *answers)
{
	const struct answer *confined = answers_find(&ask->answers, "seccomp");

	if (!proc->seccomp)
		answers_add(answers, "process-seccomp", VERDICT_OK, "it runs under no filter");
	else if (proc->seccomp == 1 || !confined || confined->verdict == VERDICT_OK)
		answers_add(answers, "process-seccomp", VERDICT_OK,
			    "it runs under seccomp, which is suspended while a thread works");
	else {
		answers_add(answers, "process-seccomp", VERDICT_NO, "it runs under seccomp: %s",
			    confined->text);
		answers_way_out(answers, "%s", confined->way_out);
	}
	answers_mark_vital(answers);
}

static void ask_group(const struct proc *proc, struct answers *answers)
{
	struct uspl_err why = { 0 };
	uint64_t left;

	if (memcg_require(proc, NEED_BYTES, &why) != 0)
		answers_add_err(answers, "process-memory", VERDICT_NO, "", &why);
	else if (!memcg_left(proc, &left))
		answers_add(answers, "process-memory", VERDICT_LIMITED,
			    "what its control groups have left can't be seen");
	else
		answers_add(answers, "process-memory", VERDICT_OK,
			    left < MEMCG_NO_LIMIT ? "its control groups have %" PRIu64 " KiB left"
						  : "its control groups have no limit",
			    left / 1024);
	answers_mark_vital(answers);
}

/* A number of KiB in its status, in bytes. */
static uint64_t status_bytes(const struct buf *status, const char *name)
{
	const char *value = task_status_field(status, name);

	return value ? strtoull(value, NULL, 10) << 10 : 0;
}

/* Whether the limit leaves room for an update. */
static void ask_limit(const struct proc *proc, int resource, uint64_t used, const char *what,
		      struct answers *answers)
{
	struct rlimit limit;

	if (prlimit(proc->pid, (enum __rlimit_resource)resource, NULL, &limit) != 0 ||
	    limit.rlim_cur == RLIM_INFINITY)
		return;
	if (limit.rlim_cur >= used && limit.rlim_cur - used >= NEED_BYTES)
		return;
	answers_add(answers, "process-limits", VERDICT_LIMITED,
		    "its limit of %s leaves %" PRIu64 " KiB: an update may not fit", what,
		    limit.rlim_cur > used ? ((uint64_t)limit.rlim_cur - used) / 1024 : 0);
	answers_way_out(answers, "prlimit --pid=%d", proc->pid);
}

static void ask_limits(const struct proc *proc, struct answers *answers)
{
	size_t before = answers->items.n;
	auto_buf struct buf status = { 0 };
	char most[32];

	if (task_status(proc, proc->tid, &status)) {
		ask_limit(proc, RLIMIT_AS, status_bytes(&status, "VmSize"), "address space",
			  answers);
		ask_limit(proc, RLIMIT_DATA, status_bytes(&status, "VmData"), "data", answers);
	}
	ask_read_line("/proc/sys/vm/max_map_count", most, sizeof(most));
	if (most[0] && proc->maps.n + NEED_MAPPINGS > strtoul(most, NULL, 10)) {
		answers_add(answers, "process-limits", VERDICT_LIMITED,
			    "it has %zu mappings of %s: an update may not fit", proc->maps.n, most);
		answers_way_out(answers, "a higher vm.max_map_count");
	}
	if (answers->items.n == before)
		answers_add(answers, "process-limits", VERDICT_OK,
			    "address space, data and mappings: an update has room");
}

/*
 * Each thread: one in uninterruptible sleep gets a moment to wake up. An update needs one of them,
 * to map memory.
 */
static void ask_threads(const struct proc *proc, struct answers *answers)
{
	int64_t deadline = clock_now_ns() + STOP_LIMIT_NS;
	struct uspl_err why = { 0 };
	auto_vec tid_vec tids = { 0 };
	size_t stuck = 0;
	const pid_t *tid;
	int rc = tasks_list(proc, &tids, &why);

	vec_for_each (&tids, tid)
		stuck += thread_require_stoppable(proc, *tid, deadline, &why) != 0;
	if (rc || stuck)
		answers_add_err(answers, "process-threads",
				stuck < tids.n ? VERDICT_LIMITED : VERDICT_NO,
				"not all threads can be stopped", &why);
	else
		answers_add(answers, "process-threads", VERDICT_OK, "%zu: each can be stopped",
			    tids.n);
	answers_mark_vital(answers);
}

/* Whether its threads can be looked at in their sleep. */
static void ask_sleepers(const struct proc *proc, struct answers *answers)
{
	struct uspl_err why = { 0 };
	struct blocked blocked;
	int rc = blocked_open(&blocked, proc, &why);

	if (rc) {
		answers_add_err(answers, "process-quiet", VERDICT_LIMITED,
				"all its threads are stopped for a switch", &why);
		return;
	}
	blocked_release(&blocked);
	answers_add(answers, "process-quiet", VERDICT_OK,
		    "its threads can be looked at where they sleep");
}

/* A process has a pid for each namespace; the last one is that of its own. */
static void ask_its_namespace(const struct proc *proc, struct answers *answers)
{
	auto_buf struct buf status = { 0 };
	const char *pids, *own;

	if (!task_status(proc, proc->tid, &status))
		return;
	pids = task_status_field(&status, "NStgid");
	own = pids ? strpbrk(pids + 1, "\t\n") : NULL;
	if (own && *own == '\t')
		answers_add(answers, "process-container", VERDICT_OK,
			    "it runs in a pid namespace of its own: there it is pid %.*s",
			    (int)strcspn(own + 1, "\t\n"), own + 1);
	else
		answers_add(answers, "process-container", VERDICT_OK,
			    "it runs in this program's pid namespace");
}

/* What another command has left behind. */
static void ask_left(const struct proc *proc, struct answers *answers)
{
	auto_regions region_vec regions = { 0 };
	const struct region *region;
	struct uspl_err why = { 0 };
	size_t interrupted = 0, live = 0;

	if (regions_read(proc, &regions, &why) != 0) {
		answers_add_err(answers, "process-updates", VERDICT_NO, "", &why);
		answers_mark_vital(answers);
		return;
	}
	vec_for_each (&regions, region) {
		interrupted += region_is_interrupted(region);
		live += region_is_live(region);
	}
	if (interrupted)
		answers_add(answers, "process-updates", VERDICT_LIMITED,
			    "an update was left in the middle of its switch");
	else
		answers_add(answers, "process-updates", VERDICT_OK, "applied by now: %zu", live);
	if (interrupted)
		answers_way_out(answers, "apply or undo it again ('uspl-view' names it)");
}

int ask_exists(pid_t pid, struct uspl_err *err)
{
	struct proc *none;

	return kill(pid, 0) != 0 && errno == ESRCH ? proc_open_readonly(pid, &none, err) : 0;
}

int ask_process(struct ask *ask, pid_t pid, struct uspl_err *err)
{
	struct answers *answers = &ask->process;
	struct vm_sharers vm_sharers = { 0 };
	auto_proc struct proc *proc = NULL;
	struct uspl_err why = { 0 };

	if (ask_exists(pid, err) != 0)
		return -USPL_E_NO_PROCESS;
	/* Whether the other commands would open it. */
	if (proc_open_locked(pid, clock_now_ns(), &proc, &why) != 0) {
		answers_add_err(answers, "process", VERDICT_NO, "", &why);
		answers_mark_vital(answers);
		return 0;
	}
	answers_add(answers, "process", VERDICT_OK, "pid %d ('%s') can be opened", pid, proc->comm);
	answers_mark_vital(answers);
	ask_filter(ask, proc, answers);
	if (vm_sharers_await(proc, &vm_sharers, 0, &why) != 0)
		answers_add_err(answers, "process-sharing", VERDICT_NO, "", &why);
	else
		answers_add(answers, "process-sharing", VERDICT_OK,
			    "no other process runs in its memory");
	answers_mark_vital(answers);
	ask_group(proc, answers);
	ask_limits(proc, answers);
	ask_threads(proc, answers);
	ask_sleepers(proc, answers);
	ask_its_namespace(proc, answers);
	ask_left(proc, answers);
	return 0;
}
