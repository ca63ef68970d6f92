// SPDX-License-Identifier: GPL-3.0-or-later
// carrier_detached.c - a thread makes the requests by itself and is back where it was
/*
 * The thread is let go and not traced any more; what happens then is what would happen if the tool
 * died. The agent writes on its result page how it ended, and the tool looks for that in the
 * target's memory. It takes microseconds, unless the thread has to wait for a processor. Once it is
 * done the thread may do anything, and end: the result page stays.
 *
 * Where its memory comes with the run there is nothing to look at before, and nothing at all if
 * that memory could not be mapped: then the thread's signals show that it leaves the agent.
 */

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "inject/agent.h"
#include "inject/carrier.h"

/* How often the word is read at once; how long to sleep then, at first and at most. */
#define QUICK_LOOKS 50
#define PAUSE_NS 50000
#define PAUSE_MAX_NS 1000000

int carrier_start_detached(struct carrier *carrier, struct uspl_err *err)
{
	int rc = agent_note_carrier(carrier->agent, carrier->thread.tid, err);

	if (!rc)
		rc = carrier_start(carrier, err);
	if (rc && carrier_restore(carrier, NULL) != 0)
		carrier->agent->kept = true;
	return rc;
}

/*
 * The beginning of a result page that comes with the run: zeros as long as it isn't there, and if
 * something else was mapped in its place.
 */
static int read_new_result_page(const struct carrier *carrier, struct agent_result_page *ret,
				struct uspl_err *err)
{
	const struct proc *proc = carrier->agent->proc;
	const struct agent_request *move = &ret->reqs[0];
	size_t len = agent_result_page_len(1);
	/* It may have come just now. */
	int rc = proc_read(proc, carrier->result_page, ret, len, NULL) != 0 &&
				 proc_maps_now(proc, carrier->result_page, len)
			 ? proc_read(proc, carrier->result_page, ret, len, err)
			 : 0;

	if (move->kind != INJECT_MOVE || move->args[1] != carrier->token)
		memset(ret, 0, len);
	return rc;
}

/* What the agent has said: 0 as long as it isn't done. */
static int read_done(const struct carrier *carrier, uint64_t *ret, struct uspl_err *err)
{
	struct agent_result_page result_page = { 0 };
	size_t len = sizeof(result_page.done);
	int rc = carrier_maps_result_page(carrier)
			 ? read_new_result_page(carrier, &result_page, err)
			 : proc_read(carrier->agent->proc, carrier->result_page, &result_page, len,
				     err);

	*ret = result_page.done;
	return rc;
}

static int collect(const struct carrier *carrier, uint64_t done, size_t *ret_done,
		   struct uspl_err *err)
{
	struct agent_result_page result_page;
	uint64_t left = done - 1; /* from the one that failed on */
	int rc = proc_read(carrier->agent->proc, carrier->result_page, &result_page,
			   agent_result_page_len(carrier->n), err);

	if (rc)
		return rc;
	if (left > carrier->n)
		return uspl_fail(err, USPL_E_HOSTILE, "thread %d has changed the agent's results",
				 carrier->thread.tid);
	*ret_done = left ? carrier->n - left + 1 : carrier->n;
	/* The first one has no answer of its own: the page is there, so it was done. */
	if (carrier_maps_result_page(carrier))
		result_page.reqs[0].result = (int64_t)carrier->reqs[0].args[0];
	for (size_t i = 0; i < *ret_done; i++)
		carrier->reqs[i].result = result_page.reqs[i].result;
	return 0;
}

/*
 * For a thread that was stopped again, and hasn't said that it is done: true if it isn't in the
 * agent any more. For one that maps its result page that isn't known otherwise.
 */
static bool has_left(const struct carrier *carrier)
{
	return carrier_maps_result_page(carrier) &&
	       !agent_has(carrier->agent, regs_pc(&carrier->thread.regs));
}

/* It is gone before it was done: something has killed it. */
static int fail_gone(const struct carrier *carrier, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_NO_PROCESS, "thread %d of pid %d exited", carrier->thread.tid,
			 carrier->agent->proc->pid);
}

/*
 * A thread that hasn't finished in time stands still again: it gets its own state back. Or it has
 * ended, as a rule after it was done.
 */
static int take_back(struct carrier *carrier, size_t *ret_done, struct uspl_err *err)
{
	uint64_t done = 0;
	int rc = read_done(carrier, &done, err);

	if (rc)
		return rc;
	if (done)
		return collect(carrier, done, ret_done, err);
	if (carrier->thread.state == THREAD_GONE)
		return fail_gone(carrier, err);
	if (has_left(carrier))
		return CARRIER_SILENT;
	rc = carrier_restore(carrier, err);
	if (rc)
		return rc;
	return uspl_fail(err, USPL_E_UNSTOPPABLE,
			 "thread %d of pid %d did not do in time what it was sent for",
			 carrier->thread.tid, carrier->agent->proc->pid);
}

static int recall(struct carrier *carrier, size_t *ret_done, struct uspl_err *err)
{
	const struct proc *proc = carrier->agent->proc;
	struct thread *thread = &carrier->thread;
	int rc;

	thread->timeouts = NULL; /* they were of the first stop */
	rc = thread_stop(proc, thread, proc_deadline(proc, STOP_LIMIT_NS), err);
	if (rc)
		thread_leave_behind(proc, thread);
	if (!rc && carrier_maps_result_page(carrier) && thread->state == THREAD_STOPPED)
		rc = thread_read_regs(proc, thread, err);
	if (rc) {
		carrier->agent->kept = true;
		return rc;
	}
	rc = take_back(carrier, ret_done, err);
	thread_release(proc, thread);
	return rc;
}

static bool is_there(const struct carrier *carrier)
{
	return syscall(SYS_tgkill, carrier->agent->proc->pid, carrier->thread.tid, 0) == 0 ||
	       errno != ESRCH;
}

/* True if the thread will never say what it has not said by now. */
static bool is_over(const struct carrier *carrier)
{
	return !is_there(carrier) || (carrier_maps_result_page(carrier) &&
				      agent_shows_outside(carrier->agent, carrier->thread.tid));
}

/* It has had its time; but if it only waits for a processor the command does so, too. */
static bool has_time(const struct carrier *carrier, int64_t deadline)
{
	const struct proc *proc = carrier->agent->proc;
	int64_t now = clock_now_ns();

	return now < deadline || (now < proc_deadline(proc, 0) && !cancel_pending() &&
				  task_state(proc, carrier->thread.tid) == 'R');
}

int carrier_await(struct carrier *carrier, size_t *ret_done, struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + CARRIER_RUN_NS;
	bool quick = !carrier_requests(carrier, INJECT_SYSCALL), over = false;
	struct timespec pause = { 0 };
	uint64_t done = 0;
	int rc;

	/* Looks again and again until it is done, or nothing more is to be expected. */
	for (int look = 0; !done && !over && has_time(carrier, deadline); look++) {
		/*
		 * Each look takes the lock of the target's mappings, and a thread that maps
		 * something there waits for it; so the tool doesn't look all the time if it sent a
		 * thread to do that.
		 */
		pause.tv_nsec = PAUSE_NS * (look + 1ll);
		if (pause.tv_nsec > PAUSE_MAX_NS)
			pause.tv_nsec = PAUSE_MAX_NS;
		if (quick && look < QUICK_LOOKS)
			sched_yield();
		else
			nanosleep(&pause, NULL);
		over = is_over(carrier);
		rc = read_done(carrier, &done, err);
		if (rc)
			return rc;
	}
	if (done)
		return collect(carrier, done, ret_done, err);
	if (!over)
		return recall(carrier, ret_done, err);
	return is_there(carrier) ? CARRIER_SILENT : fail_gone(carrier, err);
}
