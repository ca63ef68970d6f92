// SPDX-License-Identifier: GPL-3.0-or-later
// asleep.c - where the threads of a process sleep, found out without waking them
/*
 * The sum of all run counts (taskstats) is one number for a question about all threads: has any
 * sleeper run since the look? Counts only grow. So if
 *
 *     sum = dead + the sleepers' counts as looked at + the cleared threads' counts
 *
 * none of them has grown. `dead` is what threads that are no more have left in the sum. It grows
 * only, and is at least 0, which is all that needs to be known of a process whose threads live on.
 * Otherwise it is found at the look: sum minus the counts of all living threads, read one by one
 * before the sum (at most that much), and after it (at least that much). The lower bound is kept:
 * a `dead` that is too small makes the equation fail, never hold. The figure would be too large if
 * an unlisted thread were in the sum; so no thread may have been born between counting the threads
 * and the sum, which the last process id given out tells (/proc/loadavg).
 *
 * A thread in its exit is in the sum twice for a moment. It is not asleep then, nor can it be stopped,
 * so that asleep_unchanged says no as long as it is there; and when it is gone, the bound holds.
 */

#include "proc/asleep.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "base/log.h"
#include "proc/place.h"

/* A thread that can't be caught asleep in so many readings runs. */
#define TRIES 3
/* How often the threads' counts are read to find `dead` exactly. */
#define ROUNDS 3
/* Links of a folder of /proc that aren't its threads: "." and its entry in the parent. */
#define OTHER_LINKS 2

/* What /proc/PID/task/TID/syscall says now. */
static enum asleep_class read_place(const struct proc *proc, pid_t tid, struct blocked_place *ret)
{
	/* Who waits for a child in vfork isn't alone: the child runs on the same stack and memory. */
	if (!place_read(proc, tid, ret) || ret->nr == SYS_vfork || ret->nr == SYS_clone ||
	    ret->nr == SYS_clone3)
		return ASLEEP_RUNS;
	/* Nothing of the program is below such a thread: a zombie, or the kernel's own. */
	if ((!ret->sp && !ret->pc) || ret->nr == SYS_exit || ret->nr == SYS_exit_group)
		return ASLEEP_NO_CODE;
	return ASLEEP_SLEEPS;
}

static void look_at(const struct asleep *asleep, struct asleep_thread *thread)
{
	thread->clean = false;
	for (int i = 0; i < TRIES; i++) {
		struct blocked_place place;

		thread->runs = runcount_read(&thread->count, asleep->proc);
		thread->class = read_place(asleep->proc, thread->tid, &place);
		if (thread->class != ASLEEP_SLEEPS)
			return;
		regs_of_blocked(&place, &thread->regs);
		if (thread->runs != RUNCOUNT_NONE &&
		    runcount_read(&thread->count, asleep->proc) == thread->runs)
			return;
	}
	thread->class = ASLEEP_RUNS;
}

static int check_kernel(const struct proc *proc, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	char path[64];

	if (!runcount_is_kept())
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the kernel does not count how often threads run");
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", proc->pid, proc->tid);
	return file_read(path, &text, err);
}

int asleep_open(struct asleep *asleep, const struct proc *proc, struct uspl_err *err)
{
	struct uspl_err no_sum = { 0 };
	char path[64];
	int rc = check_kernel(proc, err);

	if (rc)
		return rc;
	*asleep = (struct asleep){ .proc = proc, .sum.link.fd = -1 };
	snprintf(path, sizeof(path), "/proc/%d/task", proc->pid);
	asleep->task_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (asleep->task_fd < 0)
		return uspl_fail_errno(err, "cannot open '%s'", path);
	if (runsum_open(&asleep->sum, proc, &no_sum) != 0)
		log_info("asleep", "run counts are read one by one: %s", no_sum.msg);
	return 0;
}

void asleep_release(struct asleep *asleep)
{
	struct asleep_thread *thread;

	vec_for_each (&asleep->threads, thread)
		runcount_close(&thread->count);
	vec_release(&asleep->threads);
	runsum_close(&asleep->sum);
	close(asleep->task_fd);
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
	return compare_tids(*(const pid_t *)tid, ((const struct asleep_thread *)thread)->tid);
}

struct asleep_thread *asleep_find(struct asleep *asleep, pid_t tid)
{
	if (!asleep->threads.n)
		return NULL;
	return bsearch(&tid, asleep->threads.items, asleep->threads.n,
		       sizeof(*asleep->threads.items), tid_to_thread);
}

/* The threads of that list, which is sorted: copies of those that we know, and new ones. */
static int merge(struct asleep *asleep, const tid_vec *tids, asleep_thread_vec *ret)
{
	const pid_t *tid;

	vec_for_each (tids, tid) {
		const struct asleep_thread *known = asleep_find(asleep, *tid);
		struct asleep_thread *thread = vec_push(ret);

		if (!thread)
			return -1;
		if (known)
			*thread = *known;
		else
			*thread = (struct asleep_thread){ .tid = *tid, .count.fd = -1 };
	}
	return 0;
}

/* Makes asleep->threads those of the list. The descriptors move to where the threads go on. */
static int take_list(struct asleep *asleep, const tid_vec *tids, struct uspl_err *err)
{
	asleep_thread_vec fresh = { 0 };
	struct asleep_thread *thread;

	if (merge(asleep, tids, &fresh) != 0) {
		vec_release(&fresh);
		return uspl_fail_nomem(err);
	}
	vec_for_each (&fresh, thread) {
		struct asleep_thread *known = asleep_find(asleep, thread->tid);

		if (known)
			known->count.fd = -1;
		else
			runcount_open(&thread->count, asleep->proc, thread->tid);
	}
	vec_for_each (&asleep->threads, thread)
		runcount_close(&thread->count);
	vec_release(&asleep->threads);
	asleep->threads = fresh;
	return 0;
}

/* The number of threads, without reading the folder. */
static size_t count_threads(const struct asleep *asleep)
{
	struct stat st;

	return fstat(asleep->task_fd, &st) == 0 && st.st_nlink > OTHER_LINKS
		       ? (size_t)st.st_nlink - OTHER_LINKS
		       : 0;
}

/* The last process or thread id that was given out, in our namespace; 0 if it can't be read. */
static long last_id(void)
{
	auto_buf struct buf text = { 0 };
	const char *blank;

	if (file_read("/proc/loadavg", &text, NULL) != 0)
		return 0;
	blank = strrchr(buf_str(&text), ' ');
	return blank ? atol(blank) : 0;
}

/* The sum of the threads' counts, read one by one. False if one is gone. */
static bool add_counts(const struct asleep *asleep, uint64_t *ret)
{
	const struct asleep_thread *thread;
	uint64_t total = 0;

	vec_for_each (&asleep->threads, thread) {
		uint64_t runs = runcount_read(&thread->count, asleep->proc);

		if (runs == RUNCOUNT_NONE)
			return false;
		total += runs;
	}
	*ret = total;
	return true;
}

/* A kernel's worker runs when it likes, and a zombie isn't in the sum. */
static bool sum_is_ours(const struct asleep *asleep)
{
	const struct asleep_thread *thread;

	vec_for_each (&asleep->threads, thread)
		if (thread->class == ASLEEP_NO_CODE)
			return false;
	return asleep->sum.link.fd >= 0;
}

/* Finds bounds for `dead`; see the top. */
static void find_dead(struct asleep *asleep)
{
	asleep->dead_known = false;
	for (int i = 0; i < ROUNDS && !asleep->dead_known && sum_is_ours(asleep); i++) {
		uint64_t before, sum, after;
		long id;

		if (!add_counts(asleep, &before))
			return;
		id = last_id();
		if (!id || count_threads(asleep) != asleep->threads.n ||
		    !runsum_read(&asleep->sum, &sum) || last_id() != id ||
		    !add_counts(asleep, &after))
			continue;
		if (sum >= after && sum - after > asleep->dead)
			asleep->dead = sum - after;
		asleep->dead_known = sum - before == asleep->dead;
	}
}

static int list_threads(struct asleep *asleep, struct uspl_err *err)
{
	tid_vec tids = { 0 };
	int rc = threads_list(asleep->proc, &tids, err);

	if (!rc) {
		qsort(tids.items, tids.n, sizeof(*tids.items), by_tid);
		rc = take_list(asleep, &tids, err);
	}
	vec_release(&tids);
	return rc;
}

static void look_at_moved(struct asleep *asleep)
{
	struct asleep_thread *thread;

	vec_for_each (&asleep->threads, thread)
		if (!thread->cleared &&
		    (thread->class == ASLEEP_RUNS ||
		     runcount_read(&thread->count, asleep->proc) != thread->runs))
			look_at(asleep, thread);
}

int asleep_look(struct asleep *asleep, struct uspl_err *err)
{
	int rc = list_threads(asleep, err);

	if (rc)
		return rc;
	look_at_moved(asleep);
	find_dead(asleep);
	return 0;
}

int asleep_look_again(struct asleep *asleep, struct uspl_err *err)
{
	int rc = 0;

	if (asleep->stale || count_threads(asleep) != asleep->threads.n) {
		asleep->dead_known = false;
		asleep->stale = false;
		rc = list_threads(asleep, err);
	}
	if (!rc)
		look_at_moved(asleep);
	return rc;
}

bool asleep_sleeps_on(const struct asleep *asleep, const struct asleep_thread *thread)
{
	return thread->class == ASLEEP_SLEEPS &&
	       runcount_read(&thread->count, asleep->proc) == thread->runs;
}

/*
 * If each of those that we know is there after they were counted, it was there when they were, and
 * if they were as many, there was no other.
 */
bool asleep_is_complete(struct asleep *asleep)
{
	const struct asleep_thread *thread;

	asleep->stale = count_threads(asleep) != asleep->threads.n;
	vec_for_each (&asleep->threads, thread)
		asleep->stale = asleep->stale ||
				runcount_read(&thread->count, asleep->proc) == RUNCOUNT_NONE;
	return !asleep->stale;
}

/* One by one: no sleeper has run, and no other thread has taken the place of one without code. */
static bool counts_unchanged(const struct asleep *asleep)
{
	const struct asleep_thread *thread;

	vec_for_each (&asleep->threads, thread) {
		if (thread->cleared)
			continue;
		if (thread->class == ASLEEP_NO_CODE
			    ? runcount_read(&thread->count, asleep->proc) == RUNCOUNT_NONE
			    : !asleep_sleeps_on(asleep, thread))
			return false;
	}
	return true;
}

bool asleep_unchanged(struct asleep *asleep)
{
	const struct asleep_thread *thread;
	uint64_t want = asleep->dead, sum;
	size_t n_cleared = 0;

	/*
	 * First of all: a thread that we don't know can make up for one that is gone, but the one
	 * that is gone is missed below.
	 */
	if (count_threads(asleep) != asleep->threads.n)
		return false;
	/* The stopped ones' counts stand still; read before the sum, they can't hide another's run. */
	vec_for_each (&asleep->threads, thread) {
		if (thread->class == ASLEEP_RUNS && !thread->cleared)
			return false;
		n_cleared += thread->cleared;
		want += thread->cleared ? runcount_read(&thread->count, asleep->proc)
					: thread->runs;
	}
	/* Nobody bears a thread then. */
	if (n_cleared == asleep->threads.n)
		return true;
	if (!sum_is_ours(asleep) || !runsum_read(&asleep->sum, &sum))
		return counts_unchanged(asleep);
	return sum == want || (!asleep->dead_known && counts_unchanged(asleep));
}
