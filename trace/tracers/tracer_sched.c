// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_sched.c - when threads go off the processors, for how long, and why

#include <inttypes.h>

#include "base/json.h"
#include "trace/output/formats.h"
#include "trace/output/tracer.h"
#include "trace/tracers/tracers.h"
#include "trace/watch/sched_proc.h"
#include "trace/watch/switches.h"
#include "trace/watch/watch_loop.h"

#define READ_NS 50000000
/* How often threads are looked at by /proc. */
#define LOOK_NS 20000000

/* A thread's times. */
struct total {
	pid_t tid;
	uint64_t blocked, preempted; /* times */
	uint64_t blocked_ns, preempted_ns, waking_ns;
};

struct sched {
	/* Options. */
	bool summary;
	double threshold_s;
	/* Work. */
	struct switches switches;
	struct sched_proc by_proc;
	bool is_by_proc;
	struct uspl_err refused; /* why */
	VEC(struct total) totals;
	struct watch *watch;
	struct uspl_err *err;
};

static const struct tracer_option options[] = {
	{ "summary", NULL, CLI_FLAG, offsetof(struct sched, summary),
	  "print sums by thread in the end, not each time" },
	{ "threshold", "TIME", CLI_SECONDS, offsetof(struct sched, threshold_s),
	  "print times that are as long or longer only ('5us')" },
};

static int open_sched(struct watch *watch, struct uspl_err *err)
{
	struct sched *sched = watch->state;
	int rc;

	sched->watch = watch;
	watch->interval_ns = READ_NS;
	if (sched->summary && watch->format != &format_text)
		return uspl_fail(err, USPL_E_USAGE, "'--summary' is for the format 'text' only");
	rc = switches_open(&sched->switches, watch->proc, &sched->refused);
	if (rc == -USPL_E_PERMISSION || rc == -USPL_E_SYSTEM) {
		sched->is_by_proc = true;
		watch->interval_ns = LOOK_NS;
		return sched_proc_open(&sched->by_proc, watch->proc, err);
	}
	if (rc && err)
		*err = sched->refused;
	if (rc)
		return rc;
	rc = watch_add_perf(watch, &sched->switches.perf, err);
	if (rc)
		return rc;
	if (watch->format == &format_text && !sched->summary)
		buf_addf(&watch->out,
			 "# tracer: sched, pid %d\n"
			 "#         TIME       TID          OFF         WAKING  WHY\n",
			 watch->proc->pid);
	return 0;
}

static const char *why(const struct off_time *off)
{
	return off->preempted ? "preempted" : "blocked";
}

/* For a thread that hasn't come back: until now. */
static uint64_t off_ns(const struct off_time *off)
{
	uint64_t end = off->to ? off->to : (uint64_t)clock_now_ns();

	return end > off->from ? end - off->from : 0;
}

static uint64_t waking_ns(const struct off_time *off)
{
	return off->woken && off->to > off->woken ? off->to - off->woken : 0;
}

static void print_json(struct sched *sched, const struct off_time *off)
{
	const char *name = syscall_name(off->nr);
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_number(&json, "tid", off->tid);
	json_number(&json, "start_ns", (int64_t)off->from - sched->watch->start_ns);
	json_number(&json, "duration_ns", (int64_t)off_ns(off));
	if (off->woken && off->to)
		json_number(&json, "waking_ns", (int64_t)waking_ns(off));
	json_truth(&json, "back", off->to);
	json_string(&json, "why", why(off));
	json_string(&json, "syscall", off->preempted ? NULL : name);
	json_string(&json, "function", off->caller ? off->caller->name : NULL);
	json_close(&json, '}');
	buf_addf(&sched->watch->out, "%s\n", json_text(&json));
}

static int add_total(struct sched *sched, const struct off_time *off)
{
	struct total *total, *found = NULL;

	vec_for_each (&sched->totals, total)
		if (total->tid == off->tid)
			found = total;
	if (!found)
		found = vec_push(&sched->totals);
	if (!found)
		return uspl_fail_nomem(sched->err);
	found->tid = off->tid;
	found->waking_ns += waking_ns(off);
	*(off->preempted ? &found->preempted : &found->blocked) += 1;
	*(off->preempted ? &found->preempted_ns : &found->blocked_ns) += off_ns(off);
	return 0;
}

static int tell(void *ctx, const struct off_time *off)
{
	struct sched *sched = ctx;
	struct buf *out = &sched->watch->out;

	if ((double)off_ns(off) < sched->threshold_s * 1e9)
		return 0;
	if (sched->summary)
		return add_total(sched, off);
	if (sched->watch->format == &format_json) {
		print_json(sched, off);
		return 0;
	}
	buf_addf(out, "%14.6f %9d %9.3f us",
		 (double)((int64_t)off->from - sched->watch->start_ns) / 1e9, off->tid,
		 (double)off_ns(off) / 1e3);
	if (off->woken && off->to)
		buf_addf(out, " %11.3f us", (double)waking_ns(off) / 1e3);
	else
		buf_addf(out, " %14s", "-");
	buf_addf(out, "  %s%s ", why(off), off->to ? "" : " until now");
	switches_add_place(off, out);
	buf_addstr(out, "\n");
	return 0;
}

static int read_sched(struct watch *watch, struct uspl_err *err)
{
	struct sched *sched = watch->state;

	sched->err = err;
	if (sched->is_by_proc)
		return sched_proc_look(&sched->by_proc, err);
	return switches_read(&sched->switches, false, tell, sched, err);
}

static void print_thread_json(const struct sched *sched, const struct sched_thread *thread)
{
	const struct sched_place *place;
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_number(&json, "tid", thread->tid);
	json_string(&json, "thread", thread->name);
	json_number(&json, "blocked", (int64_t)(thread->last.blocked - thread->first.blocked));
	json_number(&json, "preempted",
		    (int64_t)(thread->last.preempted - thread->first.preempted));
	json_number(&json, "waited_ns",
		    (int64_t)(thread->last.waited_ns - thread->first.waited_ns));
	json_number(&json, "ran_ns", (int64_t)(thread->last.ran_ns - thread->first.ran_ns));
	json_number(&json, "looks", (int64_t)sched->by_proc.looks);
	json_open(&json, "asleep", '[');
	vec_for_each (&thread->places, place) {
		json_open(&json, NULL, '{');
		json_string(&json, "function", place->inner->name);
		json_string(&json, "caller", place->caller ? place->caller->name : NULL);
		json_number(&json, "looks", (int64_t)place->looks);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
	buf_addf(&sched->watch->out, "%s\n", json_text(&json));
}

static int end_by_proc(struct sched *sched, struct uspl_err *err)
{
	auto_buf struct buf limits = { 0 };
	struct buf *out = &sched->watch->out;
	const struct sched_thread *thread;
	const struct sched_place *place;
	int rc = sched_proc_look(&sched->by_proc, err);

	if (rc)
		return rc;
	if (sched->watch->format == &format_text)
		buf_addf(out, "# tracer: sched, pid %d, by /proc\n%9s %10s %10s %14s %14s  %s\n",
			 sched->watch->proc->pid, "TID", "BLOCKED", "PREEMPTED", "WAITED us",
			 "RAN us", "THREAD");
	vec_for_each (&sched->by_proc.threads, thread) {
		if (sched->watch->format != &format_text) {
			print_thread_json(sched, thread);
			continue;
		}
		buf_addf(out, "%9d %10" PRIu64 " %10" PRIu64 " %14.3f %14.3f  %s\n", thread->tid,
			 thread->last.blocked - thread->first.blocked,
			 thread->last.preempted - thread->first.preempted,
			 (double)(thread->last.waited_ns - thread->first.waited_ns) / 1e3,
			 (double)(thread->last.ran_ns - thread->first.ran_ns) / 1e3, thread->name);
		vec_for_each (&thread->places, place)
			buf_addf(out,
				 "#%9s asleep at %" PRIu64 " of %" PRIu64 " looks: in %s <- %s\n",
				 "", place->looks, sched->by_proc.looks, place->inner->name,
				 place->caller ? place->caller->name : "?");
	}
	buf_addf(&limits, "# sums only, by /proc: perf events are refused: %s\n",
		 sched->refused.msg);
	watch_print_losses(sched->watch, &limits);
	return 0;
}

static int end_sched(struct watch *watch, struct uspl_err *err)
{
	struct sched *sched = watch->state;
	auto_buf struct buf limits = { 0 };
	const struct total *total;
	char name[TASK_NAME_LEN];
	int rc;

	sched->err = err;
	if (sched->is_by_proc)
		return end_by_proc(sched, err);
	rc = switches_read(&sched->switches, true, tell, sched, err);
	if (rc)
		return rc;
	if (sched->summary)
		buf_addf(&watch->out, "# tracer: sched, pid %d\n%9s %10s %14s %10s %14s %14s  %s\n",
			 watch->proc->pid, "TID", "BLOCKED", "us", "PREEMPTED", "us", "WAKING us",
			 "THREAD");
	/* There are none but for a summary. */
	vec_for_each (&sched->totals, total) {
		task_name(watch->proc, total->tid, name);
		buf_addf(&watch->out, "%9d %10" PRIu64 " %14.3f %10" PRIu64 " %14.3f %14.3f  %s\n",
			 total->tid, total->blocked, (double)total->blocked_ns / 1e3,
			 total->preempted, (double)total->preempted_ns / 1e3,
			 (double)total->waking_ns / 1e3, name);
	}
	switches_add_limits(&sched->switches, &limits);
	watch->lost = sched->switches.perf.lost;
	watch_print_losses(watch, &limits);
	return 0;
}

static void close_sched(struct watch *watch)
{
	struct sched *sched = watch->state;

	vec_release(&sched->totals);
	sched_proc_close(&sched->by_proc);
	switches_close(&sched->switches);
}

static const struct tracer_watch watching = {
	.formats = { &format_text, &format_json },
	.open = open_sched,
	.read = read_sched,
	.end = end_sched,
	.close = close_sched,
};

const struct tracer tracer_sched = {
	.name = "sched",
	.help = "when threads go off the processors, for how long, and why",
	.options = options,
	.n_options = ARRAY_SIZE(options),
	.state_size = sizeof(struct sched),
	.watch = &watching,
};
