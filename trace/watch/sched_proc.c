// SPDX-License-Identifier: GPL-3.0-or-later
// sched_proc.c - what /proc tells of switches, where perf events are refused

#include "trace/watch/sched_proc.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"

/* A number behind a name in /proc/PID/task/TID/status. */
static uint64_t field(const struct buf *text, const char *name)
{
	const char *number = task_status_field(text, name);

	return number ? strtoull(number, NULL, 10) : 0;
}

static struct sched_thread *find_thread(struct sched_proc *sched, pid_t tid)
{
	struct sched_thread *thread;

	vec_for_each (&sched->threads, thread)
		if (thread->tid == tid)
			return thread;
	return NULL;
}

/* A thread that is made meanwhile has begun with all counts at 0. */
static int read_thread(struct sched_proc *sched, pid_t tid, bool new, struct uspl_err *err)
{
	struct sched_thread *thread = find_thread(sched, tid);
	auto_buf struct buf status = { 0 }, stat = { 0 };
	struct sched_counts counts;
	char path[64];

	/* None of this is there of a thread that has ended. */
	if (!task_status(sched->proc, tid, &status))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", sched->proc->pid, tid);
	if (file_read(path, &stat, NULL) != 0 ||
	    sscanf(buf_str(&stat), "%" SCNu64 " %" SCNu64, &counts.ran_ns, &counts.waited_ns) != 2)
		return 0;
	counts.blocked = field(&status, "voluntary_ctxt_switches");
	counts.preempted = field(&status, "nonvoluntary_ctxt_switches");
	if (!thread) {
		thread = vec_push(&sched->threads);
		if (!thread)
			return uspl_fail_nomem(err);
		thread->tid = tid;
		if (!new)
			thread->first = counts;
	}
	thread->last = counts;
	task_name(sched->proc, tid, thread->name);
	return 0;
}

static int read_threads(struct sched_proc *sched, bool new, struct uspl_err *err)
{
	auto_vec tid_vec tids = { 0 };
	const pid_t *tid;
	int rc = 0;

	/* The process may have ended: what was seen stays. */
	if (tasks_list(sched->proc, &tids, NULL) == 0)
		vec_for_each (&tids, tid) {
			rc = read_thread(sched, *tid, new, err);
			if (rc)
				return rc;
		}
	return 0;
}

int sched_proc_open(struct sched_proc *sched, struct proc *proc, struct uspl_err *err)
{
	int rc;

	*sched = (struct sched_proc){ .proc = proc };
	rc = stacks_open(&sched->stacks, proc, 0, err);
	if (rc)
		return rc;
	rc = blocked_open(&sched->blocked_threads, proc, err);
	if (rc)
		return rc;
	sched->has_blocked = true;
	return read_threads(sched, false, err);
}

void sched_proc_close(struct sched_proc *sched)
{
	struct sched_thread *thread;

	vec_for_each (&sched->threads, thread)
		vec_release(&thread->places);
	vec_release(&sched->threads);
	if (sched->has_blocked)
		blocked_release(&sched->blocked_threads);
	stacks_close(&sched->stacks);
}

/* What was found holds if the thread has not run since it was looked at. */
static int look_at(struct sched_proc *sched, const struct blocked_thread *blocked_threads,
		   struct uspl_err *err)
{
	struct sched_thread *thread = find_thread(sched, blocked_threads->tid);
	const struct symbol *inner, *caller;
	struct sched_place *place, *found = NULL;
	int rc;

	if (!thread || blocked_threads->class != BLOCKED_SLEEPS)
		return 0;
	rc = stacks_follow_blocked(&sched->stacks, &blocked_threads->regs, err);
	if (rc || runcount_read(&blocked_threads->count, sched->proc) != blocked_threads->runs)
		return rc;
	inner = stacks_called(&sched->stacks);
	caller = stacks_caller(&sched->stacks);
	vec_for_each (&thread->places, place)
		if (place->inner == inner && place->caller == caller)
			found = place;
	if (!found)
		found = vec_push(&thread->places);
	if (!found)
		return uspl_fail_nomem(err);
	*found = (struct sched_place){ inner, caller, found->looks + 1 };
	return 0;
}

int sched_proc_look(struct sched_proc *sched, struct uspl_err *err)
{
	const struct blocked_thread *blocked_threads;
	int rc = read_threads(sched, true, err);

	sched->looks++;
	if (rc || blocked_look(&sched->blocked_threads, NULL) != 0)
		return rc;
	vec_for_each (&sched->blocked_threads.threads, blocked_threads) {
		rc = look_at(sched, blocked_threads, err);
		if (rc)
			return rc;
	}
	return 0;
}
