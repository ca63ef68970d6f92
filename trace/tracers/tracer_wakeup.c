// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_wakeup.c - how long threads wait for a processor after they were woken, and the longest
// such time

#include <inttypes.h>

#include "base/json.h"
#include "trace/output/formats.h"
#include "trace/output/tracer.h"
#include "trace/tracers/tracers.h"
#include "trace/watch/switches.h"
#include "trace/watch/watch_loop.h"

#define READ_NS 50000000

/* A thread's waits. */
struct latency {
	pid_t tid;
	uint64_t n, sum_ns, max_ns;
	struct off_time max; /* the one with the longest */
};

struct wakeups {
	struct switches switches;
	VEC(struct latency) latencies;
	struct uspl_err *err;
};

static int open_wakeups(struct watch *watch, struct uspl_err *err)
{
	struct wakeups *wakeups = watch->state;
	int rc = switches_open(&wakeups->switches, watch->proc, err);

	watch->interval_ns = READ_NS;
	if (rc)
		return rc;
	if (!wakeups->switches.known.wakeups) {
		uspl_fail(err, USPL_E_PERMISSION, "the kernel doesn't tell when threads are woken");
		uspl_hint(err, "it takes root");
		return -USPL_E_PERMISSION;
	}
	return watch_add_perf(watch, &wakeups->switches.perf, err);
}

static int tell(void *ctx, const struct off_time *off)
{
	struct wakeups *wakeups = ctx;
	struct latency *latency, *found = NULL;
	uint64_t ns;

	if (!off->woken || off->to < off->woken)
		return 0;
	ns = off->to - off->woken;
	vec_for_each (&wakeups->latencies, latency)
		if (latency->tid == off->tid)
			found = latency;
	if (!found)
		found = vec_push(&wakeups->latencies);
	if (!found)
		return uspl_fail_nomem(wakeups->err);
	found->tid = off->tid;
	found->n++;
	found->sum_ns += ns;
	if (ns >= found->max_ns) {
		found->max_ns = ns;
		found->max = *off;
	}
	return 0;
}

static int read_wakeups(struct watch *watch, struct uspl_err *err)
{
	struct wakeups *wakeups = watch->state;

	wakeups->err = err;
	return switches_read(&wakeups->switches, false, tell, wakeups, err);
}

static int by_max(const void *a, const void *b)
{
	const struct latency *x = a, *y = b;

	return x->max_ns > y->max_ns ? -1 : x->max_ns < y->max_ns;
}

static void print_json(struct watch *watch, const struct latency *latency)
{
	auto_json struct json json = { 0 };
	char name[TASK_NAME_LEN];

	task_name(watch->proc, latency->tid, name);
	json_open(&json, NULL, '{');
	json_number(&json, "tid", latency->tid);
	json_string(&json, "thread", name);
	json_number(&json, "wakeups", (int64_t)latency->n);
	json_number(&json, "avg_ns", (int64_t)(latency->sum_ns / latency->n));
	json_number(&json, "max_ns", (int64_t)latency->max_ns);
	json_number(&json, "max_at_ns", (int64_t)latency->max.woken - watch->start_ns);
	json_number(&json, "max_cpu", latency->max.cpu);
	json_string(&json, "max_syscall", syscall_name(latency->max.nr));
	json_string(&json, "max_function", latency->max.caller ? latency->max.caller->name : NULL);
	json_close(&json, '}');
	buf_addf(&watch->out, "%s\n", json_text(&json));
}

static int end_wakeups(struct watch *watch, struct uspl_err *err)
{
	struct wakeups *wakeups = watch->state;
	auto_buf struct buf limits = { 0 };
	const struct latency *latency;
	char name[TASK_NAME_LEN];
	int rc;

	wakeups->err = err;
	rc = switches_read(&wakeups->switches, true, tell, wakeups, err);
	if (rc)
		return rc;
	if (wakeups->latencies.n)
		qsort(wakeups->latencies.items, wakeups->latencies.n,
		      sizeof(*wakeups->latencies.items), by_max);
	if (watch->format == &format_text)
		buf_addf(&watch->out,
			 "# tracer: wakeup, pid %d\n%9s %-15s %10s %11s %11s %14s %4s  %s\n",
			 watch->proc->pid, "TID", "THREAD", "WAKE-UPS", "AVG us", "MAX us", "AT s",
			 "CPU", "THE LONGEST: IT HAD WAITED");
	vec_for_each (&wakeups->latencies, latency) {
		if (watch->format != &format_text) {
			print_json(watch, latency);
			continue;
		}
		task_name(watch->proc, latency->tid, name);
		buf_addf(&watch->out, "%9d %-15s %10" PRIu64 " %11.3f %11.3f %14.6f %4u  ",
			 latency->tid, name, latency->n,
			 (double)latency->sum_ns / (double)latency->n / 1e3,
			 (double)latency->max_ns / 1e3,
			 (double)((int64_t)latency->max.woken - watch->start_ns) / 1e9,
			 latency->max.cpu);
		switches_add_place(&latency->max, &watch->out);
		buf_addstr(&watch->out, "\n");
	}
	switches_add_limits(&wakeups->switches, &limits);
	watch->lost = wakeups->switches.perf.lost;
	watch_print_losses(watch, &limits);
	return 0;
}

static void close_wakeups(struct watch *watch)
{
	struct wakeups *wakeups = watch->state;

	vec_release(&wakeups->latencies);
	switches_close(&wakeups->switches);
}

static const struct tracer_watch watching = {
	.formats = { &format_text, &format_json },
	.open = open_wakeups,
	.read = read_wakeups,
	.end = end_wakeups,
	.close = close_wakeups,
};

const struct tracer tracer_wakeup = {
	.name = "wakeup",
	.help = "how long threads wait for a processor after they were woken",
	.state_size = sizeof(struct wakeups),
	.watch = &watching,
};
