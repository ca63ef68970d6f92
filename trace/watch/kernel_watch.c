// SPDX-License-Identifier: GPL-3.0-or-later
// kernel_watch.c - what the kernel tells of a process while its calls are recorded
/*
 * Six notes of perf make three kinds of events, each with its beginning and its end:
 *
 *     system call    raw_syscalls:sys_enter, sys_exit           tracefs: root, as a rule
 *     off            PERF_RECORD_SWITCH, out and in             whoever may observe the process
 *     page fault     page-faults, then minor- or major-faults   the same, but for those that the
 *                                                               kernel takes itself
 *
 * The clock. A call's times are ticks of the processor's time stamp counter, a note's are
 * nanoseconds of CLOCK_MONOTONIC, whose rate the kernel changes to follow the time of day. So one
 * factor for all of a long recording would be off by more than a call takes. At each reading both
 * clocks are read, within some 20 ns of each other; a note's time is brought to ticks by the two
 * readings around it. What the thread does between a call's time stamp and the kernel's note of the
 * system call that the function makes takes longer than that; where the two would still cross, the
 * timeline ends what is inside with what is around it.
 *
 * What had begun before the observation is passed over, and so is what lost its beginning or end
 * because there was no room for a note; that is counted.
 */

#include "trace/watch/kernel_watch.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/log.h"

#define RING_LEN (8u << 20)
/* Of two readings of the clocks, for the rate between them to be exact. */
#define APART_NS 1000000

enum meaning { SWITCH, ENTER, EXIT, FAULT, MINOR, MAJOR };

static void add_note(struct kernel_watch *watch, struct perf_kind *kinds, size_t *n,
		     enum meaning meaning, const struct perf_event_attr *attr)
{
	watch->meaning[*n] = meaning;
	kinds[(*n)++] = (struct perf_kind){ .attr = *attr };
}

/* The three below: what a kind takes, if the kernel permits it. */
static int ask_switches(struct kernel_watch *watch, struct perf_kind *kinds, size_t *n,
			struct uspl_err *err)
{
	const struct perf_kind kind = { .attr = { .type = PERF_TYPE_SOFTWARE,
						  .config = PERF_COUNT_SW_DUMMY,
						  .exclude_kernel = 1,
						  .context_switch = 1 } };
	int rc = perf_permits(watch->proc, &kind, err);

	if (rc)
		return rc;
	add_note(watch, kinds, n, SWITCH, &kind.attr);
	return 0;
}

static int ask_syscalls(struct kernel_watch *watch, struct perf_kind *kinds, size_t *n,
			struct uspl_err *err)
{
	struct perf_kind enter = { 0 }, leave = { 0 };
	int rc = perf_syscalls(&enter.attr, &leave.attr, err);

	if (rc)
		return rc;
	rc = perf_permits(watch->proc, &enter, err);
	if (rc)
		return rc;
	add_note(watch, kinds, n, ENTER, &enter.attr);
	add_note(watch, kinds, n, EXIT, &leave.attr);
	return 0;
}

static int ask_faults(struct kernel_watch *watch, struct perf_kind *kinds, size_t *n,
		      struct uspl_err *err)
{
	struct perf_kind kind = { .attr = { .type = PERF_TYPE_SOFTWARE,
					    .config = PERF_COUNT_SW_PAGE_FAULTS,
					    .sample_period = 1,
					    .sample_type = PERF_SAMPLE_ADDR } };
	int rc = perf_permits(watch->proc, &kind, NULL);

	if (rc == -USPL_E_PERMISSION) {
		kind.attr.exclude_kernel = 1;
		rc = perf_permits(watch->proc, &kind, err);
	} else if (rc) {
		rc = perf_permits(watch->proc, &kind, err);
	}
	if (rc)
		return rc;
	if (kind.attr.exclude_kernel)
		buf_addstr(&watch->notes, "# page faults within system calls are not recorded: the "
					  "kernel doesn't tell (CAP_PERFMON, "
					  "kernel.perf_event_paranoid)\n");
	add_note(watch, kinds, n, FAULT, &kind.attr);
	kind.attr.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
	add_note(watch, kinds, n, MINOR, &kind.attr);
	kind.attr.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ;
	add_note(watch, kinds, n, MAJOR, &kind.attr);
	return 0;
}

/* What of the kinds is permitted. Fails if nothing is, with what the last one lacks. */
static int ask_all(struct kernel_watch *watch, unsigned kinds, struct perf_kind *ret, size_t *ret_n,
		   struct uspl_err *err)
{
	static int (*const ask[KERNEL_KINDS])(struct kernel_watch *, struct perf_kind *, size_t *,
					      struct uspl_err *) = {
		[KERNEL_SYSCALL] = ask_syscalls,
		[KERNEL_OFF] = ask_switches,
		[KERNEL_FAULT] = ask_faults,
	};

	for (unsigned kind = 0; kind < KERNEL_KINDS; kind++) {
		struct uspl_err why = { 0 };
		int rc = kinds & 1u << kind ? ask[kind](watch, ret, ret_n, &why) : 0;

		if (rc == -USPL_E_NO_PROCESS || rc == -USPL_E_NOMEM) {
			if (err)
				*err = why;
			return rc;
		}
		if (!(kinds & 1u << kind))
			continue;
		if (!rc) {
			watch->kinds |= 1u << kind;
			continue;
		}
		buf_addf(&watch->notes, "# %s are not recorded: %s\n", kernel_kind_title(kind),
			 why.msg);
		if (err)
			*err = why;
	}
	if (watch->kinds)
		return 0;
	uspl_context(err, "nothing of what was asked of the kernel can be recorded");
	return err ? -(int)err->code : -USPL_E_PERMISSION;
}

int kernel_watch_open(struct kernel_watch *watch, pid_t pid, unsigned kinds, struct uspl_err *err)
{
	struct perf_kind perf_kinds[KERNEL_NOTES];
	size_t n = 0;
	int rc = proc_open_readonly(pid, &watch->proc, err);

	if (rc)
		return rc;
	rc = ask_all(watch, kinds, perf_kinds, &n, err);
	if (rc)
		return rc;
	rc = perf_open(&watch->perf, watch->proc, perf_kinds, n, RING_LEN, err);
	if (rc)
		uspl_context(err, "cannot record what the kernel does for pid %d", pid);
	return rc;
}

void kernel_watch_close(struct kernel_watch *watch)
{
	vec_release(&watch->threads);
	perf_order_release(&watch->order);
	perf_close(&watch->perf);
	buf_release(&watch->notes);
	proc_free(watch->proc);
	watch->proc = NULL;
}

int kernel_watch_begin(struct kernel_watch *watch, struct uspl_err *err)
{
	int rc;

	clocks_read(&watch->from);
	watch->to = watch->from;
	rc = perf_enable(&watch->perf, err);
	if (!rc)
		log_info("trace", "the kernel tells of pid %d from now on", watch->proc->pid);
	return rc;
}

static uint64_t ticks_of(const struct kernel_watch *watch, uint64_t ns)
{
	double ns_per_tick = clocks_ns_per_tick(&watch->from, &watch->to);
	int64_t since = (int64_t)ns - watch->to.ns;

	return ns_per_tick > 0 ? watch->to.ticks + (uint64_t)(int64_t)((double)since / ns_per_tick)
			       : watch->to.ticks;
}

/* NULL: out of memory. */
static struct kernel_thread *meet_thread(struct kernel_watch *watch, pid_t tid)
{
	size_t at = vec_lower_bound(&watch->threads, it, it->tid < tid);
	struct kernel_thread *place;

	if (at < watch->threads.n && watch->threads.items[at].tid == tid)
		return &watch->threads.items[at];
	if (!vec_push(&watch->threads))
		return NULL;
	place = &watch->threads.items[at];
	memmove(place + 1, place, (watch->threads.n - 1 - at) * sizeof(*place));
	*place = (struct kernel_thread){ .tid = tid, .inner = task_inner_id(watch->proc, tid) };
	/* It has ended: where all know it by one id, that is it. */
	if (!place->inner && (proc_is_over(watch->proc) ||
			      task_inner_id(watch->proc, watch->proc->pid) == watch->proc->pid))
		place->inner = tid;
	return place;
}

static void begin(struct kernel_watch *watch, struct kernel_thread *thread, enum kernel_kind kind,
		  const struct perf_note *note)
{
	thread->in[kind] = true;
	thread->events[kind] = (struct kernel_event){ .start = ticks_of(watch, note->time),
						      .tid = thread->inner,
						      .cpu = (int32_t)note->cpu,
						      .nr = -1,
						      .kind = kind };
}

/* What has begun is over, and told. */
static int end(struct kernel_watch *watch, struct kernel_thread *thread, enum kernel_kind kind,
	       uint64_t ticks)
{
	struct kernel_event *place;

	thread->in[kind] = false;
	place = vec_push(&watch->log->events);
	if (!place)
		return uspl_fail_nomem(watch->err);
	*place = thread->events[kind];
	place->end = ticks > place->start ? ticks : place->start;
	return 0;
}

/* A fault that something else came behind wasn't served: how long it took isn't known. */
static int end_fault(struct kernel_watch *watch, struct kernel_thread *thread)
{
	struct kernel_event *fault = &thread->events[KERNEL_FAULT];

	if (!thread->in[KERNEL_FAULT])
		return 0;
	fault->flags |= KERNEL_UNDONE;
	return end(watch, thread, KERNEL_FAULT, fault->start);
}

static int note_switch(struct kernel_watch *watch, struct kernel_thread *thread,
		       const struct perf_note *note)
{
	const struct kernel_event *call = &thread->events[KERNEL_SYSCALL];
	struct kernel_event *off = &thread->events[KERNEL_OFF];

	if (!(note->misc & PERF_RECORD_MISC_SWITCH_OUT)) {
		/* Else it was off when we began. */
		return thread->in[KERNEL_OFF]
			       ? end(watch, thread, KERNEL_OFF, ticks_of(watch, note->time))
			       : 0;
	}
	begin(watch, thread, KERNEL_OFF, note);
	off->nr = thread->in[KERNEL_SYSCALL] ? call->nr : -1;
	if (note->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
		off->flags |= KERNEL_PREEMPTED;
	return 0;
}

static int note_enter(struct kernel_watch *watch, struct kernel_thread *thread,
		      const struct perf_note *note)
{
	struct kernel_event *call = &thread->events[KERNEL_SYSCALL];
	struct perf_sys_enter record;

	if (note->raw_len < sizeof(record))
		return 0;
	memcpy(&record, note->raw, sizeof(record));
	/* One that hasn't ended has lost its end. */
	begin(watch, thread, KERNEL_SYSCALL, note);
	call->nr = (int32_t)record.nr;
	if (call->nr != SYS_exit && call->nr != SYS_exit_group)
		return 0;
	call->flags |= KERNEL_UNDONE;
	return end(watch, thread, KERNEL_SYSCALL, call->start);
}

static int note_fault(struct kernel_watch *watch, struct kernel_thread *thread,
		      enum meaning meaning, const struct perf_note *note)
{
	struct kernel_event *fault = &thread->events[KERNEL_FAULT];
	int rc;

	if (meaning == FAULT) {
		rc = end_fault(watch, thread);
		begin(watch, thread, KERNEL_FAULT, note);
		fault->value = note->addr;
		return rc;
	}
	/* Its beginning is lost, or was before the observation. */
	if (!thread->in[KERNEL_FAULT])
		return 0;
	fault->flags |= meaning == MAJOR ? KERNEL_MAJOR : 0;
	return end(watch, thread, KERNEL_FAULT, ticks_of(watch, note->time));
}

static int take_note(void *ctx, const struct perf_note *note)
{
	struct kernel_watch *watch = ctx;
	enum meaning meaning = watch->meaning[note->kind];
	struct kernel_thread *thread;
	struct kernel_event *call;
	struct perf_sys_exit record;
	int rc;

	if (note->type != (meaning == SWITCH ? PERF_RECORD_SWITCH : PERF_RECORD_SAMPLE))
		return 0;
	thread = meet_thread(watch, note->tid);
	if (!thread)
		return uspl_fail_nomem(watch->err);
	if (meaning == SWITCH)
		return note_switch(watch, thread, note);
	if (meaning >= FAULT)
		return note_fault(watch, thread, meaning, note);
	rc = end_fault(watch, thread);
	if (rc)
		return rc;
	if (meaning == ENTER)
		return note_enter(watch, thread, note);
	call = &thread->events[KERNEL_SYSCALL];
	if (note->raw_len < sizeof(record) || !thread->in[KERNEL_SYSCALL])
		return 0;
	memcpy(&record, note->raw, sizeof(record));
	/* Behind a signal handler's end (rt_sigreturn) it is -1: the thread is elsewhere. */
	if (record.nr != -1 && record.nr != call->nr) {
		thread->in[KERNEL_SYSCALL] = false;
		return 0;
	}
	call->value = (uint64_t)record.result;
	call->flags |= record.nr == -1 ? KERNEL_UNDONE : 0;
	return end(watch, thread, KERNEL_SYSCALL, ticks_of(watch, note->time));
}

static int tell_open(struct kernel_watch *watch)
{
	struct kernel_thread *thread;
	int rc = 0;

	vec_for_each (&watch->threads, thread) {
		rc = end_fault(watch, thread);
		for (unsigned kind = 0; !rc && kind < KERNEL_FAULT; kind++) {
			if (!thread->in[kind])
				continue;
			thread->events[kind].flags |= KERNEL_OPEN;
			rc = end(watch, thread, kind, watch->to.ticks);
		}
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Notes are delivered up to the beginning of the reading before (perf_order.h). Of two readings,
 * one right behind the other, the second delivers what there was when the first one began: of a
 * call that was read before, all.
 */
int kernel_watch_read(void *what, bool last, struct kernel_log *log, struct uspl_err *err)
{
	struct kernel_watch *watch = what;
	struct trace_clocks now;
	int rc = 0;

	log->kinds = watch->kinds;
	watch->log = log;
	watch->err = err;
	/* The clocks at this reading, with one that is far enough from it. */
	clocks_read(&now);
	if (now.ns - watch->to.ns >= APART_NS)
		watch->from = watch->to;
	watch->to = now;
	for (int i = 0; !rc && i < 2; i++)
		rc = perf_read_ordered(&watch->perf, &watch->order, last && i, take_note, watch,
				       err);
	log->lost = watch->perf.lost;
	if (rc || !last)
		return rc;
	return tell_open(watch);
}
