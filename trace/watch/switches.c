// SPDX-License-Identifier: GPL-3.0-or-later
// switches.c - when each thread went off the processors and came back, and why
/*
 * Four sources, in one order by time:
 *
 *     PERF_RECORD_SWITCH     off and on, and whether it was preempted
 *     context-switches       registers and stack at the switch: where in the program
 *     raw_syscalls           which system call it is in
 *     sched_wakeup           it was woken: noted on the processor that its waker ran on
 *
 * What a tracepoint itself holds names threads as the first pid namespace does, which in a
 * container aren't the ids that we see; what perf adds to it (note->tid) is in our namespace. So
 * which thread is meant by a wake-up is learnt from the thread's own system calls: these say both.
 * That comes in time, since a thread that waits to be woken has entered a system call before.
 *
 * The first is for every tool that may observe the process at all. The others are asked for
 * together, then without those that take the rights of root.
 */

#include "trace/watch/switches.h"

#include <inttypes.h>
#include <string.h>

#define STACK_LEN (4u << 10)
#define RING_LEN (8u << 20)

enum { SWITCH, PLACE, WAKEUP, ENTER, EXIT, N_KINDS };

struct wakeup_record {
	struct perf_common common;
	char comm[16];
	int32_t kernel_tid; /* of the thread that was woken */
};

/* The first n of the kinds. */
static int open_kinds(struct switches *switches, const struct perf_kind *kinds, size_t n,
		      struct uspl_err *err)
{
	int rc = perf_open(&switches->perf, switches->stacks.proc, kinds, n, RING_LEN, err);

	if (rc)
		perf_close(&switches->perf);
	switches->known.places = n > PLACE;
	switches->known.wakeups = n > WAKEUP;
	switches->known.syscalls = n > EXIT;
	return rc;
}

int switches_open(struct switches *switches, struct proc *proc, struct uspl_err *err)
{
	struct perf_kind kinds[N_KINDS] = {
		[SWITCH].attr = { .type = PERF_TYPE_SOFTWARE,
				  .config = PERF_COUNT_SW_DUMMY,
				  .exclude_kernel = 1,
				  .context_switch = 1 },
		[PLACE].attr = { .type = PERF_TYPE_SOFTWARE,
				 .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
				 .sample_period = 1 },
		[WAKEUP].everybody = true,
	};
	bool all;
	int rc = stacks_open(&switches->stacks, proc, STACK_LEN, err);

	if (rc)
		return rc;
	all = !perf_tracepoint("sched", "sched_wakeup", &kinds[WAKEUP].attr, NULL) &&
	      !perf_syscalls(&kinds[ENTER].attr, &kinds[EXIT].attr, NULL);
	stacks_ask(&kinds[PLACE].attr, STACK_LEN);
	/* The best that is permitted. */
	rc = all ? open_kinds(switches, kinds, N_KINDS, err) : -USPL_E_PERMISSION;
	if (rc == -USPL_E_PERMISSION)
		rc = open_kinds(switches, kinds, PLACE + 1, err);
	if (rc == -USPL_E_PERMISSION)
		rc = open_kinds(switches, kinds, SWITCH + 1, err);
	if (rc)
		return rc;
	return perf_enable(&switches->perf, err);
}

void switches_close(struct switches *switches)
{
	vec_release(&switches->threads);
	perf_order_release(&switches->order);
	perf_close(&switches->perf);
	stacks_close(&switches->stacks);
}

static struct switches_thread *meet_thread(struct switches *switches, pid_t tid)
{
	struct switches_thread *thread;

	vec_for_each (&switches->threads, thread)
		if (thread->tid == tid)
			return thread;
	thread = vec_push(&switches->threads);
	if (thread)
		*thread = (struct switches_thread){
			.tid = tid,
			.kernel_tid = proc_in_first_pid_namespace() ? tid : 0,
			.nr = -1,
		};
	return thread;
}

static int note_switch(struct switches *switches, struct switches_thread *thread,
		       const struct perf_note *note)
{
	bool preempted = note->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;

	if (note->misc & PERF_RECORD_MISC_SWITCH_OUT) {
		thread->is_off = true;
		thread->off = (struct off_time){
			.tid = note->tid,
			.from = note->time,
			.preempted = preempted,
			.nr = thread->nr,
			.caller = preempted || !thread->caller ? thread->inner : thread->caller,
		};
		thread->inner = thread->caller = NULL;
		return 0;
	}
	/* It was off when we began. */
	if (!thread->is_off)
		return 0;
	thread->is_off = false;
	thread->off.to = note->time;
	thread->off.cpu = note->cpu;
	return switches->tell(switches->ctx, &thread->off);
}

/* Only threads that have been seen to go off are waited for. */
static void note_wakeup(struct switches *switches, const struct perf_note *note)
{
	struct wakeup_record record;
	struct switches_thread *thread;

	if (note->raw_len < sizeof(record))
		return;
	memcpy(&record, note->raw, sizeof(record));
	vec_for_each (&switches->threads, thread)
		if (thread->kernel_tid == record.kernel_tid && thread->is_off &&
		    !thread->off.preempted && !thread->off.woken)
			thread->off.woken = note->time;
}

static int take_note(void *ctx, const struct perf_note *note)
{
	struct switches *switches = ctx;
	struct perf_sys_exit record; /* of an entry as far as it goes, too: the number */
	const struct stacks *stacks = &switches->stacks;
	struct switches_thread *thread;
	int rc;

	if (note->kind == WAKEUP) {
		note_wakeup(switches, note);
		return 0;
	}
	thread = meet_thread(switches, note->tid);
	if (!thread)
		return uspl_fail_nomem(switches->err);
	if (note->type == PERF_RECORD_SWITCH)
		return note_switch(switches, thread, note);
	if (note->type != PERF_RECORD_SAMPLE)
		return 0;
	/*
	 * A thread that is preempted was in that function itself; a thread that waits, in what the
	 * function has called.
	 */
	if (note->kind == PLACE) {
		rc = stacks_follow(&switches->stacks, note, switches->err);
		if (rc)
			return rc;
		thread->inner = stacks->chain.n > stacks->in_kernel
					? stacks->chain.items[stacks->in_kernel]
					: NULL;
		thread->caller = stacks_caller(stacks);
		return 0;
	}
	thread->nr = -1;
	if (note->raw_len < sizeof(record))
		return 0;
	memcpy(&record, note->raw, sizeof(record));
	thread->kernel_tid = record.common.kernel_tid;
	if (note->kind == ENTER)
		thread->nr = (long)record.nr;
	return 0;
}

int switches_read(struct switches *switches, bool all,
		  int (*tell)(void *ctx, const struct off_time *off), void *ctx,
		  struct uspl_err *err)
{
	const struct switches_thread *thread;
	int rc;

	switches->tell = tell;
	switches->ctx = ctx;
	switches->err = err;
	rc = perf_read_ordered(&switches->perf, &switches->order, all, take_note, switches, err);
	if (rc || !all)
		return rc;
	vec_for_each (&switches->threads, thread) {
		if (!thread->is_off)
			continue;
		rc = tell(ctx, &thread->off);
		if (rc)
			return rc;
	}
	return 0;
}

void switches_add_place(const struct off_time *off, struct buf *out)
{
	const char *name = off->preempted ? NULL : syscall_name(off->nr);
	const char *caller = off->caller ? off->caller->name : "?";

	if (name)
		buf_addf(out, "in %s <- %s", name, caller);
	else if (off->nr >= 0 && !off->preempted)
		buf_addf(out, "in syscall_%ld <- %s", off->nr, caller);
	else
		buf_addf(out, "in %s", caller);
}

void switches_add_limits(const struct switches *switches, struct buf *out)
{
	if (!switches->known.places)
		buf_addstr(out, "# where in the program is not known: the kernel doesn't tell "
				"(CAP_PERFMON, kernel.perf_event_paranoid)\n");
	if (!switches->known.syscalls || !switches->known.wakeups)
		buf_addstr(out, "# system calls and wake-ups are not known: they take root\n");
	if (switches->perf.lost)
		buf_addf(out, "# %" PRIu64 " notes could not be kept\n", switches->perf.lost);
}
