// SPDX-License-Identifier: GPL-3.0-or-later
// inject.c - system calls and function calls that the target makes for the tool
#include "inject/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cancel.h"
#include "base/file.h"
#include "inject/carrier.h"
#include "inject/rlimits.h"
#include "proc/kept.h"
#include "thread/stop.h"
#include "thread/timeouts.h"

/*
 * Memory that is given back by one system call: 64 pages take some 25 us. What is much larger is
 * mostly addresses with nothing behind them, and shouldn't take thousands of calls.
 */
#define UNMAP_SLICE (1ull << 18)
#define UNMAP_SLICES_MAX (INJECT_MAX - 2)
/*
 * For more than that the limits of the process aren't lifted: it would count as the process's own,
 * and the process could map nothing more by itself.
 */
#define LIFT_MAX (16ull << 20)
/* How long at least threads that can't be used at the moment are tried again, and the pause. */
#define AGAIN_NS 5000000000ll
#define AGAIN_PAUSE_NS 1000000

/* Drops what is kept of memory that the run was to change; the rest is as it was before. */
static void drop_changed(const struct proc *proc, const struct inject_req *reqs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct inject_req *req = &reqs[i];

		switch (req->kind) {
		case INJECT_TABLE:
			break;
		case INJECT_STORE:
			kept_drop(proc->kept, req->what, sizeof(uint64_t));
			break;
		case INJECT_SYSCALL:
			if (req->what == SYS_mmap || req->what == SYS_munmap ||
			    req->what == SYS_madvise || req->what == SYS_mprotect) {
				kept_drop(proc->kept, req->args[0], req->args[1]);
				if (req->what == SYS_mmap && req->result > 0)
					kept_drop(proc->kept, (taddr)req->result, req->args[1]);
				break;
			}
			/* fall through */
		default:
			kept_drop_all(proc->kept);
		}
	}
}

/* CARRIER_UNFIT if the thread, which stands still, can't do it and nothing has happened. */
static int begin(struct carrier *carrier, size_t *ret_done, struct uspl_err *err)
{
	int rc = carrier->n > INJECT_MAX
			 ? uspl_fail(err, USPL_E_BUG, "%zu requests are too many", carrier->n)
			 : carrier_load(carrier, err);

	if (rc)
		return rc;
	return carrier->alone ? carrier_start_detached(carrier, err)
			      : carrier_run_traced(carrier, ret_done, err);
}

int inject_run_stopped(struct inject_agent *agent, struct thread *thread, struct inject_req *reqs,
		       size_t n, struct inject_watch *watch, struct uspl_err *err)
{
	struct carrier carrier = { .agent = agent,
				   .thread = *thread,
				   .reqs = reqs,
				   .n = n,
				   .held = true,
				   .watch = watch };
	size_t done;
	int rc = begin(&carrier, &done, err);

	*thread = carrier.thread;
	drop_changed(agent->proc, reqs, n);
	if (rc == CARRIER_UNFIT)
		rc = err && err->code ? -(int)err->code : -USPL_E_UNSTOPPABLE;
	carrier_release(&carrier);
	return rc;
}

/* A set of requests on the way to a thread that can make them. */
struct job {
	struct inject_agent *agent;
	struct inject_choice choice;
	struct inject_req *reqs;
	size_t n, *ret_done;
	int64_t deadline; /* for threads that can't be stopped at the moment */
	/* Out: a thread would have done, but for something that passes: another try may succeed. */
	bool passes;
	enum uspl_code unfit; /* out: with CARRIER_UNFIT, why no thread can do it */
};

/*
 * What stands in the way of a stopped thread for the moment: it has exited, a signal is on its way
 * to it, or it has forked since its rank was found.
 */
static bool is_unfit_now(const struct proc *proc, const struct thread *thread, enum task_rank rank)
{
	return thread->state == THREAD_GONE || thread->signal ||
	       (rank != RANK_PARENT && task_has_children(proc, thread->tid));
}

/*
 * Stops a thread, and if it has children all others, too. Others are asked before one is waited for
 * that doesn't stop.
 */
static int halt(const struct proc *proc, struct thread *thread, struct stop *stop,
		struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + STOP_LIMIT_NS;
	tid_vec one = { .items = &thread->tid, .n = 1 };
	int rc;

	if (stop) {
		rc = stop_some(stop, &one, deadline, err);
		if (!rc)
			*thread = stop->threads.items[0];
		return rc;
	}
	timeouts_note(thread->timeouts, &thread->tid, 1);
	rc = thread_stop(proc, thread, deadline, err);
	if (rc == -USPL_E_UNSTOPPABLE)
		thread_leave_behind(proc, thread);
	return rc;
}

/* Stops the carrier's thread. CARRIER_UNFIT if it can't be used; err may say why. */
static int halt_carrier(struct carrier *carrier, struct job *job, enum task_rank rank,
			struct stop *stop, struct uspl_err *err)
{
	const struct inject_choice *choice = &job->choice;
	const struct proc *proc = carrier->agent->proc;
	struct thread *thread = &carrier->thread;
	bool unfit;
	int rc = thread_require_stoppable(proc, thread->tid, job->deadline, err);

	if (rc) {
		job->passes = true;
		return CARRIER_UNFIT;
	}
	rc = halt(proc, thread, stop, err);
	unfit = !rc && is_unfit_now(proc, thread, rank);
	job->passes |= rc == -USPL_E_UNSTOPPABLE || unfit;
	if (rc)
		return rc == -USPL_E_UNSTOPPABLE ? CARRIER_UNFIT : rc;
	if (unfit)
		return CARRIER_UNFIT;
	rc = thread->regs_valid ? 0 : thread_read_regs(proc, thread, err);
	if (rc)
		return rc;
	return thread->state == THREAD_GONE || (choice->fit && !choice->fit(choice->ctx, thread))
		       ? CARRIER_UNFIT
		       : 0;
}

/*
 * CARRIER_UNFIT when this thread can't do it and nothing has happened; err may say why. stop: where
 * it has children, or may have some by the time that it stops; or NULL.
 */
static int run_on(struct job *job, pid_t tid, enum task_rank rank, struct stop *stop,
		  struct uspl_err *err)
{
	const struct proc *proc = job->agent->proc;
	struct timeouts timeouts = { .proc = proc };
	struct carrier carrier = { .agent = job->agent,
				   .thread = { .tid = tid, .timeouts = &timeouts },
				   .result_page = job->choice.result_page,
				   .maps_result_page = job->choice.maps_result_page,
				   .reqs = job->reqs,
				   .n = job->n,
				   .watch = job->choice.watch };
	int rc;

	if (stop)
		stop_begin(stop, proc);
	rc = halt_carrier(&carrier, job, rank, stop, err);
	if (!rc)
		rc = begin(&carrier, job->ret_done, err);
	if (stop && carrier.thread.state != THREAD_FREE)
		stop->threads.items[0] = carrier.thread;
	if (stop)
		stop_leave(stop);
	else
		thread_release(proc, &carrier.thread);
	carrier.thread.timeouts = NULL;
	timeouts_release(&timeouts);
	if (!rc && carrier.alone)
		rc = carrier_await(&carrier, job->ret_done, err);
	carrier_release(&carrier);
	return rc;
}

static int run_as(struct job *job, pid_t tid, enum task_rank rank, struct uspl_err *err)
{
	const struct proc *proc = job->agent->proc;
	struct stop stop;

	/* A function may wait for a lock that another thread holds: that must not stand still. */
	for (size_t i = 0; i < job->n; i++)
		if (job->reqs[i].kind == INJECT_CALL)
			return run_on(job, tid, rank, NULL, err);
	if (rank == RANK_PARENT)
		return run_on(job, tid, rank, &stop, err);
	if (!task_reaps(proc))
		return run_on(job, tid, rank, NULL, err);
	/* It may fork before it stops, and the child end while it stands. */
	if (!task_has_children(proc, tid))
		return run_on(job, tid, rank, &stop, err);
	job->passes = true;
	return CARRIER_UNFIT;
}

pid_t inject_sleeper(const struct proc *proc)
{
	auto_vec tid_vec tids = { 0 };
	const pid_t *tid;
	pid_t found = 0;

	if (tasks_list(proc, &tids, NULL) == 0)
		vec_for_each (&tids, tid)
			if (!found && task_rank(proc, *tid) == RANK_ASLEEP)
				found = *tid;
	return found;
}

static int try_threads(struct job *job, const tid_vec *tids, struct uspl_err *err)
{
	const struct proc *proc = job->agent->proc;
	/*
	 * Found once: a thread that sleeps and runs by turns would have another rank each time, and
	 * never get its turn.
	 */
	auto_free enum task_rank *ranks = calloc(tids->n + 1, sizeof(*ranks));
	struct uspl_err why = { 0 };

	if (!ranks)
		return uspl_fail_nomem(err);
	for (enum task_rank wanted = RANK_ASLEEP; wanted < TASK_RANKS; wanted++) {
		for (size_t i = 0; i < tids->n; i++) {
			int rc;

			/* And not sooner than needed. */
			if (wanted == RANK_ASLEEP)
				ranks[i] = task_rank(proc, tids->items[i]);
			/* It may be in the middle of fork(2), which an asked thread finishes. */
			if (wanted == RANK_ASLEEP && ranks[i] == RANK_RUNS && task_reaps(proc))
				ranks[i] = RANK_PARENT;
			rc = ranks[i] == wanted ? run_as(job, tids->items[i], wanted, &why)
						: CARRIER_UNFIT;
			if (rc < 0 && err)
				*err = why;
			if (rc != CARRIER_UNFIT)
				return rc;
			if (wanted < RANK_PARENT && ranks[i] == wanted &&
			    task_has_children(proc, tids->items[i]))
				ranks[i] = RANK_PARENT;
		}
	}
	if (job->choice.fit || (why.code != USPL_E_UNSTOPPABLE && why.code != USPL_E_UNSUPPORTED))
		uspl_fail(&why, job->choice.fit ? USPL_E_BUSY : USPL_E_UNSTOPPABLE,
			  "no thread of pid %d can make a system call for us", proc->pid);
	if (err)
		*err = why;
	job->unfit = why.code;
	return CARRIER_UNFIT;
}

/* A detached run may end without an answer: a traced one tells what has failed. */
static int try_once(struct job *job, struct uspl_err *err)
{
	auto_vec tid_vec tids = { 0 };
	pid_t named = job->choice.sleeper;
	int rc = CARRIER_UNFIT;

	if (named && task_rank(job->agent->proc, named) == RANK_ASLEEP)
		rc = run_as(job, named, RANK_ASLEEP, err);
	if (rc == CARRIER_UNFIT || rc == CARRIER_SILENT) {
		rc = tasks_list(job->agent->proc, &tids, err);
		if (rc)
			return rc;
		rc = try_threads(job, &tids, err);
	}
	if (rc == CARRIER_SILENT) {
		job->choice.result_page = 0;
		rc = try_threads(job, &tids, err);
	}
	return rc;
}

/*
 * And tries again for what passes. A caller that wants a thread in a certain place waits for that
 * by itself.
 */
static int try_ways(struct job *job, struct uspl_err *err)
{
	static const struct timespec pause = { 0, AGAIN_PAUSE_NS };
	int64_t until = proc_deadline(job->agent->proc, AGAIN_NS);

	for (;;) {
		int rc;

		job->passes = false;
		rc = try_once(job, err);
		if (rc != CARRIER_UNFIT)
			return rc;
		if (!job->passes || job->choice.fit || clock_now_ns() >= until || cancel_pending())
			return -(int)job->unfit;
		nanosleep(&pause, NULL);
	}
}

/* True if the first request, to map a little, failed since the process may not have more. */
static bool is_at_limit(const struct inject_req *reqs, size_t done)
{
	return done == 1 && reqs[0].kind == INJECT_SYSCALL && reqs[0].what == SYS_mmap &&
	       reqs[0].args[1] <= LIFT_MAX &&
	       (reqs[0].result == -ENOMEM || reqs[0].result == -EAGAIN);
}

int inject_run_in(const struct proc *proc, const struct inject_choice *choice,
		  struct inject_req *reqs, size_t n, size_t *ret_done, struct uspl_err *err)
{
	struct job job = { .choice = *choice,
			   .reqs = reqs,
			   .n = n,
			   .ret_done = ret_done,
			   .deadline = clock_now_ns() + STOP_LIMIT_NS };
	struct inject_agent *agent = NULL;
	struct rlimits limits;
	sigset_t old;
	int rc;

	if (n > INJECT_MAX)
		return uspl_fail(err, USPL_E_BUG, "%zu requests are too many", n);
	thread_guard(&old);
	rc = choice->agent ? 0 : agent_new(proc, choice->modules, &agent, err);
	if (!rc) {
		job.agent = choice->agent ? choice->agent : agent;
		*ret_done = 0;
		rc = try_ways(&job, err);
	}
	if (!rc && is_at_limit(reqs, *ret_done) && rlimits_lift(proc, &limits)) {
		job.choice = *choice;
		*ret_done = 0;
		rc = try_ways(&job, err);
		rlimits_restore(&limits);
	}
	/* One that was asked in vain would stand still as long as the tool lives. */
	thread_fetch_left(proc_deadline(proc, STOP_LIMIT_NS));
	agent_free(agent);
	drop_changed(proc, reqs, n);
	thread_unguard(&old);
	return rc;
}

int inject_run(const struct proc *proc, struct inject_req *reqs, size_t n, size_t *ret_done,
	       struct uspl_err *err)
{
	const struct inject_choice anyone = { 0 };

	return inject_run_in(proc, &anyone, reqs, n, ret_done, err);
}

int inject_run_mapping(const struct proc *proc, taddr result_page, struct inject_req *reqs,
		       size_t n, size_t *ret_done, struct uspl_err *err)
{
	const struct inject_choice choice = { .result_page = result_page,
					      .maps_result_page = true };

	return inject_run_in(proc, &choice, reqs, n, ret_done, err);
}

int inject_unmap(const struct proc *proc, taddr addr, uint64_t len, struct uspl_err *err)
{
	uint64_t slice = len / UNMAP_SLICES_MAX / PAGE * PAGE + UNMAP_SLICE;
	struct inject_req reqs[INJECT_MAX];
	size_t n = 0, done;
	struct inject_choice choice = { 0 };
	int rc;

	/*
	 * The pages behind the first slice, the last ones first, and then all. Pages of rings are
	 * left to that: they are addresses for the most part.
	 */
	for (uint64_t at = len, part; at > INJECT_UNMAP_FIRST; at -= part) {
		const struct mapping *map;

		part = at - INJECT_UNMAP_FIRST < slice ? at - INJECT_UNMAP_FIRST : slice;
		map = proc_mapping_at(proc, addr + at - part);
		if (map && !map->shared)
			reqs[n++] =
				inject_syscall(SYS_madvise, addr + at - part, part, MADV_DONTNEED);
	}
	reqs[n++] = inject_syscall(SYS_munmap, addr, len, 0);
	rc = agent_new(proc, NULL, &choice.agent, err);

	if (!rc)
		rc = agent_require_alone(choice.agent, err);
	if (!rc)
		rc = inject_run_in(proc, &choice, reqs, n, &done, err);
	agent_free(choice.agent);
	if (rc)
		return rc;
	if (reqs[done - 1].result < 0) {
		errno = (int)-reqs[done - 1].result;
		return uspl_fail_errno(err, "cannot unmap 0x%" PRIx64 " of pid %d", addr,
				       proc->pid);
	}
	return 0;
}

int inject_require_alone(const struct proc *proc, const module_vec *modules, struct uspl_err *err)
{
	struct inject_agent *agent = NULL;
	inject_left_vec left = { 0 };
	int rc = agent_new(proc, modules, &agent, err);

	if (!rc)
		rc = agent_require_alone(agent, err);
	if (!rc) {
		left = agent->left;
		agent->left = (inject_left_vec){ 0 };
	}
	agent_free(agent);
	agent_left_clear(proc, &left);
	vec_release(&left);
	return rc;
}
