// SPDX-License-Identifier: GPL-3.0-or-later
// blocked.c - where the threads of a process sleep, found out without waking them

#include "thread/blocked.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "base/log.h"
#include "thread/blocked_count.h"
#include "thread/blocked_place.h"

/* A thread that can't be caught asleep in so many readings runs. */
#define TRIES 3

/* What /proc/PID/task/TID/syscall says now. */
static enum blocked_class read_place(const struct proc *proc, pid_t tid, struct blocked_place *ret)
{
	/*
	 * A thread that waits for a child in vfork isn't alone: the child runs on the same stack
	 * and memory.
	 */
	if (!blocked_place_read(proc, tid, ret) || ret->nr == SYS_vfork || ret->nr == SYS_clone ||
	    ret->nr == SYS_clone3)
		return BLOCKED_RUNS;
	/* Nothing of the program is below such a thread: a zombie, or the kernel's own. */
	if ((!ret->sp && !ret->pc) || ret->nr == SYS_exit || ret->nr == SYS_exit_group)
		return BLOCKED_NO_CODE;
	return BLOCKED_SLEEPS;
}

static void look_at(struct blocked *blocked, struct blocked_thread *thread)
{
	blocked->added_up = false;
	thread->checked = thread->ran = false;
	for (int i = 0; i < TRIES; i++) {
		struct blocked_place place;

		thread->runs = runcount_read(&thread->count, blocked->proc);
		thread->class = read_place(blocked->proc, thread->tid, &place);
		if (thread->class != BLOCKED_SLEEPS)
			return;
		regs_of_blocked(&place, &thread->regs);
		if (thread->runs != RUNCOUNT_NONE &&
		    runcount_read(&thread->count, blocked->proc) == thread->runs)
			return;
	}
	thread->class = BLOCKED_RUNS;
}

int blocked_open(struct blocked *blocked, const struct proc *proc, struct uspl_err *err)
{
	struct uspl_err no_sum = { 0 };
	auto_buf struct buf text = { 0 };
	char path[64];
	int rc;

	if (!runcount_is_kept())
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the kernel does not count how often threads run");
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", proc->pid, proc_task(proc));
	rc = file_read(path, &text, err);
	if (rc)
		return rc;
	*blocked = (struct blocked){ .proc = proc, .sum.link.fd = -1 };
	snprintf(path, sizeof(path), "/proc/%d/task", proc->pid);
	blocked->task_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (blocked->task_fd < 0)
		return uspl_fail_errno(err, "cannot open '%s'", path);
	blocked->loadavg_fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	if (runcount_sum_open(&blocked->sum, proc, &no_sum) != 0)
		log_info("asleep", "run counts are read one by one: %s", no_sum.msg);
	return 0;
}

void blocked_release(struct blocked *blocked)
{
	struct blocked_thread *thread;

	vec_for_each (&blocked->threads, thread)
		runcount_close(&thread->count);
	vec_release(&blocked->threads);
	vec_release(&blocked->others);
	runcount_sum_close(&blocked->sum);
	if (blocked->loadavg_fd >= 0)
		close(blocked->loadavg_fd);
	close(blocked->task_fd);
}

static int compare_tids(pid_t a, pid_t b)
{
	return a < b ? -1 : a > b;
}

static int by_tid(const void *a, const void *b)
{
	return compare_tids(*(const pid_t *)a, *(const pid_t *)b);
}

static int tid_to_thread(const void *tid, const void *thread)
{
	return compare_tids(*(const pid_t *)tid, ((const struct blocked_thread *)thread)->tid);
}

struct blocked_thread *blocked_find(struct blocked *blocked, pid_t tid)
{
	if (!blocked->threads.n)
		return NULL;
	return bsearch(&tid, blocked->threads.items, blocked->threads.n,
		       sizeof(*blocked->threads.items), tid_to_thread);
}

static int list_threads(struct blocked *blocked, struct uspl_err *err)
{
	auto_vec tid_vec tids = { 0 };
	auto_vec blocked_thread_vec fresh = { 0 };
	struct blocked_thread *thread, *known;
	const pid_t *tid;
	int rc = tasks_list(blocked->proc, &tids, err);

	if (rc)
		return rc;
	qsort(tids.items, tids.n, sizeof(*tids.items), by_tid);
	/* Copies of those that are known, and new ones. */
	vec_for_each (&tids, tid) {
		known = blocked_find(blocked, *tid);
		thread = vec_push(&fresh);
		if (!thread)
			return uspl_fail_nomem(err);
		*thread = known ? *known : (struct blocked_thread){ .tid = *tid, .count.fd = -1 };
	}
	/* The descriptors move along with the threads. */
	vec_for_each (&fresh, thread) {
		known = blocked_find(blocked, thread->tid);
		if (known)
			known->count.fd = -1;
		else
			runcount_open(&thread->count, blocked->proc, thread->tid);
	}
	vec_for_each (&blocked->threads, thread)
		runcount_close(&thread->count);
	vec_release(&blocked->threads);
	blocked->threads = fresh;
	fresh = (blocked_thread_vec){ 0 };
	blocked->last_id = 0;
	blocked->added_up = false;
	return 0;
}

static void look_at_moved(struct blocked *blocked)
{
	struct blocked_thread *thread;

	vec_for_each (&blocked->threads, thread)
		if (!thread->accounted &&
		    (thread->class == BLOCKED_RUNS ||
		     runcount_read(&thread->count, blocked->proc) != thread->runs)) {
			thread->recently_ran |= thread->class == BLOCKED_SLEEPS;
			look_at(blocked, thread);
		}
}

void blocked_look_at_ran(struct blocked *blocked)
{
	struct blocked_thread *thread;

	vec_for_each (&blocked->threads, thread)
		if (!thread->accounted && (thread->class == BLOCKED_RUNS || thread->ran))
			look_at(blocked, thread);
}

int blocked_look(struct blocked *blocked, struct uspl_err *err)
{
	int rc = list_threads(blocked, err);

	if (rc)
		return rc;
	look_at_moved(blocked);
	blocked_find_dead(blocked);
	return 0;
}

int blocked_look_again(struct blocked *blocked, struct uspl_err *err)
{
	int rc = 0;

	if (blocked->stale || blocked_count_threads(blocked) != blocked->threads.n) {
		blocked->dead_known = false;
		blocked->stale = false;
		rc = list_threads(blocked, err);
		if (rc)
			return rc;
	}
	look_at_moved(blocked);
	return 0;
}
