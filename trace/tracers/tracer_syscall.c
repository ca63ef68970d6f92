// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_syscall.c - system calls, how long they take, and which function makes them
//
// The kernel's tracepoints at the entry and the exit of system calls: no thread is stopped for it.
// The registers and the top of the stack come with the entry, and tell the caller. The notes of all
// processors are put in one order, since a thread may enter on one and leave on another.

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "perf/perf_order.h"
#include "trace/log/kernel_event.h"
#include "trace/output/formats.h"
#include "trace/output/tracer.h"
#include "trace/tracers/tracers.h"
#include "trace/output/calltree.h"
#include "trace/output/page.h"
#include "trace/output/tree_formats.h"
#include "trace/watch/stacks.h"
#include "trace/watch/watch_loop.h"

#define STACK_KB_DEFAULT 4
#define STACK_KB_MAX 60
#define RING_LEN (8u << 20)
#define READ_NS 50000000
#define ERRNO_MAX 4095

enum { ENTER, EXIT, N_KINDS };

/* A system call that a thread is in. */
struct open_call {
	pid_t tid;
	bool is_open;
	long nr;
	uint64_t start;
	const struct symbol *caller; /* NULL: not known */
	VEC(const struct symbol *) chain;
};

/* All calls of one kind by one function. */
struct total {
	long nr;
	const struct symbol *caller;
	uint64_t calls, errors, sum, max;
};

struct syscalls {
	/* Options. */
	bool summary;
	double threshold_s;
	int stack_kb;
	/* Work. */
	struct perf perf;
	struct perf_order order;
	struct stacks stacks;
	struct calltree tree;
	VEC(struct open_call) calls; /* by thread */
	VEC(struct total) totals;
	struct watch *watch;
	struct uspl_err *err;
};

static const struct tracer_option options[] = {
	{ "summary", NULL, CLI_FLAG, offsetof(struct syscalls, summary),
	  "print sums by call and caller in the end, not each call" },
	{ "threshold", "TIME", CLI_SECONDS, offsetof(struct syscalls, threshold_s),
	  "print calls that take as long or longer only ('5us')" },
	{ "stack", "KB", CLI_INT, offsetof(struct syscalls, stack_kb),
	  "copy so much of the stack to find the caller (default 4, at most 60)" },
};

static int open_syscalls(struct watch *watch, struct uspl_err *err)
{
	struct perf_kind kinds[N_KINDS] = { 0 };
	struct syscalls *sys = watch->state;
	int rc;

	sys->watch = watch;
	sys->stack_kb = sys->stack_kb ? sys->stack_kb : STACK_KB_DEFAULT;
	watch->interval_ns = READ_NS;
	if (sys->stack_kb > STACK_KB_MAX)
		return uspl_fail(err, USPL_E_USAGE, "'--stack=%d' is more than %d", sys->stack_kb,
				 STACK_KB_MAX);
	if (sys->summary && watch->format != &format_text)
		return uspl_fail(err, USPL_E_USAGE, "'--summary' is for the format 'text' only");
	rc = stacks_open(&sys->stacks, watch->proc, (size_t)sys->stack_kb << 10, err);
	if (rc)
		return rc;
	rc = perf_syscalls(&kinds[ENTER].attr, &kinds[EXIT].attr, err);
	if (rc)
		return rc;
	stacks_ask(&kinds[ENTER].attr, (size_t)sys->stack_kb << 10);
	rc = perf_open(&sys->perf, watch->proc, kinds, N_KINDS, RING_LEN, err);
	if (rc)
		return rc;
	rc = watch_add_perf(watch, &sys->perf, err);
	if (rc)
		return rc;
	if (watch->format == &format_text && !sys->summary)
		buf_addf(&watch->out,
			 "# tracer: syscall, pid %d\n"
			 "#         TIME       TID       DURATION  CALL = RESULT <- CALLER\n",
			 watch->proc->pid);
	return perf_enable(&sys->perf, err);
}

static struct open_call *call_of(struct syscalls *sys, pid_t tid)
{
	struct open_call *call;

	vec_for_each (&sys->calls, call)
		if (call->tid == tid)
			return call;
	call = vec_push(&sys->calls);
	if (call)
		call->tid = tid;
	return call;
}

static int enter(struct syscalls *sys, const struct perf_note *note)
{
	struct open_call *call = call_of(sys, note->tid);
	struct perf_sys_enter record;
	int rc;

	if (!call)
		return uspl_fail_nomem(sys->err);
	if (note->raw_len < sizeof(record))
		return 0;
	memcpy(&record, note->raw, sizeof(record));
	rc = stacks_follow(&sys->stacks, note, sys->err);
	if (rc)
		return rc;
	call->is_open = true;
	call->nr = (long)record.nr;
	call->start = note->time;
	call->caller = stacks_caller(&sys->stacks);
	call->chain.n = 0;
	for (size_t i = sys->stacks.in_kernel; i < sys->stacks.chain.n; i++) {
		const struct symbol **place = vec_push(&call->chain);

		if (!place)
			return uspl_fail_nomem(sys->err);
		*place = sys->stacks.chain.items[i];
	}
	return 0;
}

static void print_json(struct syscalls *sys, const struct open_call *call, uint64_t ns,
		       const int64_t *result)
{
	auto_json struct json json = { 0 };
	char buf[32];

	json_open(&json, NULL, '{');
	json_number(&json, "tid", call->tid);
	json_number(&json, "start_ns", (int64_t)call->start - sys->watch->start_ns);
	json_number(&json, "duration_ns", (int64_t)ns);
	json_string(&json, "name", kernel_syscall_name((int32_t)call->nr, buf, sizeof(buf)));
	if (result)
		json_number(&json, "result", *result);
	else
		json_string(&json, "result", NULL);
	json_string(&json, "caller", call->caller ? call->caller->name : NULL);
	json_close(&json, '}');
	buf_addf(&sys->watch->out, "%s\n", json_text(&json));
}

static int add_total(struct syscalls *sys, const struct open_call *call, uint64_t ns, bool failed)
{
	struct total *total, *found = NULL;

	vec_for_each (&sys->totals, total)
		if (total->nr == call->nr && total->caller == call->caller)
			found = total;
	if (!found)
		found = vec_push(&sys->totals);
	if (!found)
		return uspl_fail_nomem(sys->err);
	found->nr = call->nr;
	found->caller = call->caller;
	found->calls++;
	found->errors += failed;
	found->sum += ns;
	found->max = ns > found->max ? ns : found->max;
	return 0;
}

/* The call is the innermost part of its chain. */
static int add_chain(struct syscalls *sys, const struct open_call *call, uint64_t ns)
{
	size_t n = call->chain.n + 1;
	auto_free const struct symbol **chain = calloc(n, sizeof(*chain));
	const struct symbol *thread = stacks_thread(&sys->stacks, call->tid);
	char buf[32];

	if (!chain || !thread)
		return uspl_fail_nomem(sys->err);
	chain[0] = symbols_mark(sys->stacks.symbols,
				kernel_syscall_name((int32_t)call->nr, buf, sizeof(buf)));
	if (!chain[0])
		return uspl_fail_nomem(sys->err);
	for (size_t i = 1; i < n; i++)
		chain[i] = call->chain.items[i - 1];
	return calltree_add(&sys->tree, thread, chain, n, ns, sys->err);
}

/* A call; result NULL: it has not returned. */
static int tell(struct syscalls *sys, const struct open_call *call, uint64_t ns,
		const int64_t *result)
{
	const struct format *format = sys->watch->format;
	struct buf *out = &sys->watch->out;
	char buf[32];

	if ((double)ns < sys->threshold_s * 1e9)
		return 0;
	if (tree_has_format(format))
		return add_chain(sys, call, ns);
	if (sys->summary)
		return add_total(sys, call, ns, result && *result < 0 && *result >= -ERRNO_MAX);
	if (format == &format_json) {
		print_json(sys, call, ns, result);
		return 0;
	}
	buf_addf(out, "%14.6f %9d %11.3f us  %s",
		 (double)((int64_t)call->start - sys->watch->start_ns) / 1e9, call->tid,
		 (double)ns / 1e3, kernel_syscall_name((int32_t)call->nr, buf, sizeof(buf)));
	if (result) {
		buf_addstr(out, " = ");
		kernel_add_result(*result, out);
	} else {
		buf_addstr(out, " ...");
	}
	buf_addf(out, " <- %s\n", call->caller ? call->caller->name : "?");
	return 0;
}

static int take_note(void *ctx, const struct perf_note *note)
{
	struct syscalls *sys = ctx;
	struct open_call *call;
	struct perf_sys_exit record;

	if (note->type != PERF_RECORD_SAMPLE)
		return 0;
	if (note->kind == ENTER)
		return enter(sys, note);
	call = call_of(sys, note->tid);
	if (!call)
		return uspl_fail_nomem(sys->err);
	/* A call that had begun before we looked. */
	if (!call->is_open || note->raw_len < sizeof(record))
		return 0;
	call->is_open = false;
	memcpy(&record, note->raw, sizeof(record));
	/* The entry of this one was lost. */
	if ((long)record.nr != call->nr)
		return 0;
	return tell(sys, call, note->time - call->start, &record.result);
}

static int read_calls(struct watch *watch, struct uspl_err *err)
{
	struct syscalls *sys = watch->state;

	sys->err = err;
	return perf_read_ordered(&sys->perf, &sys->order, false, take_note, sys, err);
}

static int by_sum(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	return x->sum > y->sum ? -1 : x->sum < y->sum;
}

static void print_totals(struct syscalls *sys)
{
	struct buf *out = &sys->watch->out;
	const struct total *total;
	char buf[32];

	if (sys->totals.n)
		qsort(sys->totals.items, sys->totals.n, sizeof(*sys->totals.items), by_sum);
	buf_addf(out, "# tracer: syscall, pid %d\n%10s %10s %14s %12s %12s  %s\n",
		 sys->watch->proc->pid, "CALLS", "ERRORS", "TOTAL us", "AVG us", "MAX us",
		 "CALL <- CALLER");
	vec_for_each (&sys->totals, total)
		buf_addf(out, "%10" PRIu64 " %10" PRIu64 " %14.3f %12.3f %12.3f  %s <- %s\n",
			 total->calls, total->errors, (double)total->sum / 1e3,
			 (double)total->sum / 1e3 / (double)total->calls, (double)total->max / 1e3,
			 kernel_syscall_name((int32_t)total->nr, buf, sizeof(buf)),
			 total->caller ? total->caller->name : "?");
}

static int end_syscalls(struct watch *watch, struct uspl_err *err)
{
	struct syscalls *sys = watch->state;
	auto_buf struct buf losses = { 0 };
	uint64_t now = (uint64_t)clock_now_ns();
	const struct open_call *call;
	int rc;

	sys->err = err;
	rc = perf_read_ordered(&sys->perf, &sys->order, true, take_note, sys, err);
	if (rc)
		return rc;
	vec_for_each (&sys->calls, call)
		if (call->is_open && now > call->start) {
			rc = tell(sys, call, now - call->start, NULL);
			if (rc)
				return rc;
		}
	if (tree_has_format(watch->format))
		tree_add(watch->format, &sys->tree,
			 &(struct page_head){ watch->proc->comm, "syscall", watch->proc->pid, 0,
					      sys->perf.lost, 0 },
			 "ns", &watch->out);
	else if (sys->summary)
		print_totals(sys);
	if (sys->perf.lost)
		buf_addf(&losses, "# %" PRIu64 " entries or exits could not be kept\n",
			 sys->perf.lost);
	watch->lost = sys->perf.lost;
	watch_print_losses(watch, &losses);
	return 0;
}

static void close_syscalls(struct watch *watch)
{
	struct syscalls *sys = watch->state;
	struct open_call *call;

	vec_for_each (&sys->calls, call)
		vec_release(&call->chain);
	vec_release(&sys->calls);
	vec_release(&sys->totals);
	perf_order_release(&sys->order);
	perf_close(&sys->perf);
	stacks_close(&sys->stacks);
	calltree_release(&sys->tree);
}

static const struct tracer_watch watching = {
	.formats = { &format_text, &format_json, &format_folded, &format_svg, &format_html },
	.open = open_syscalls,
	.read = read_calls,
	.end = end_syscalls,
	.close = close_syscalls,
};

const struct tracer tracer_syscall = {
	.name = "syscall",
	.help = "system calls, their durations, and who makes them",
	.options = options,
	.n_options = ARRAY_SIZE(options),
	.state_size = sizeof(struct syscalls),
	.watch = &watching,
};
