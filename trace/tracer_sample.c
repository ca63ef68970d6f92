// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_sample.c - where running threads are, looked at many times a second
//
// The kernel's own timer looks at each thread while it runs on a processor, and copies its registers and the top of its
// stack; nothing is stopped, and the program needs no frame pointers. What a thread does asleep isn't seen: see the tracer 'sched'.

#include <inttypes.h>

#include "trace/calltree.h"
#include "trace/stacks.h"
#include "trace/trace.h"

#define FREQ_DEFAULT 1000
#define STACK_KB_DEFAULT 16
/* The kernel's records are below 64 KB, with all that is in them. */
#define STACK_KB_MAX 60
#define RING_LEN (4u << 20)
/* How often we read at least: a ring is read earlier when it is half full. */
#define READ_NS 100000000
#define LEAST 0.005
#define PROCESSORS_MAX 32

struct sample {
	/* Options. */
	int freq, stack_kb;
	/* Work. */
	struct perf perf;
	struct stacks stacks;
	struct calltree tree;
	uint64_t samples;
	bool kernel; /* seen in the kernel, too */
	struct watch *watch;
	struct uspl_err *err;
};

static const struct tracer_option options[] = {
	{ "freq", "N", CLI_INT, offsetof(struct sample, freq),
	  "look at each running thread so many times a second (default 1000)" },
	{ "stack", "KB", CLI_INT, offsetof(struct sample, stack_kb),
	  "copy so much of each stack (default 16, at most 60)" },
};

/*
 * A timer that goes with a thread is set and taken back at each switch to it and from it (4 to 8 us
 * in a virtual machine), one of a processor is not, but sees whoever runs there. So processors are
 * what we look at, if we may and they aren't many.
 */
static int open_perf(struct sample *sample, bool processors, bool kernel, struct uspl_err *err)
{
	struct perf_kind kind = {
		.attr = { .type = PERF_TYPE_SOFTWARE,
			  .config = PERF_COUNT_SW_CPU_CLOCK,
			  .sample_period = (uint64_t)(1000000000 / sample->freq),
			  .exclude_kernel = !kernel,
			  .exclude_idle = 1 },
		.everybody = processors,
	};
	int rc;

	stacks_ask(&kind.attr, (size_t)sample->stack_kb << 10);
	rc = perf_open(&sample->perf, sample->watch->proc, &kind, 1, RING_LEN, err);
	if (rc)
		perf_close(&sample->perf);
	sample->kernel = kernel;
	return rc;
}

static int open_best(struct sample *sample, struct uspl_err *err)
{
	int rc = -USPL_E_PERMISSION;

	if (sysconf(_SC_NPROCESSORS_ONLN) <= PROCESSORS_MAX)
		rc = open_perf(sample, true, true, err);
	if (rc == -USPL_E_PERMISSION)
		rc = open_perf(sample, false, true, err);
	if (rc == -USPL_E_PERMISSION)
		rc = open_perf(sample, false, false, err);
	return rc;
}

static int open_sample(struct watch *watch, struct uspl_err *err)
{
	struct sample *sample = watch->state;
	int rc;

	sample->watch = watch;
	sample->freq = sample->freq ? sample->freq : FREQ_DEFAULT;
	sample->stack_kb = sample->stack_kb ? sample->stack_kb : STACK_KB_DEFAULT;
	watch->interval_ns = READ_NS;
	if (sample->stack_kb > STACK_KB_MAX)
		return uspl_fail(err, USPL_E_USAGE, "'--stack=%d' is more than %d",
				 sample->stack_kb, STACK_KB_MAX);
	rc = stacks_open(&sample->stacks, watch->proc, (size_t)sample->stack_kb << 10, err);
	if (rc)
		return rc;
	rc = open_best(sample, err);
	if (!rc)
		rc = watch_add_perf(watch, &sample->perf, err);
	return rc ? rc : perf_enable(&sample->perf, err);
}

static int take_sample(void *ctx, const struct perf_note *note)
{
	struct sample *sample = ctx;
	const struct symbol *thread;
	int rc;

	if (note->type != PERF_RECORD_SAMPLE || note->pid != sample->watch->proc->pid)
		return 0;
	rc = stacks_follow(&sample->stacks, note, sample->err);
	if (rc)
		return rc;
	thread = stacks_thread(&sample->stacks, note->tid);
	if (!thread)
		return uspl_fail_nomem(sample->err);
	sample->samples++;
	return calltree_add(&sample->tree, thread, sample->stacks.chain.items,
			    sample->stacks.chain.n, 1, sample->err);
}

static int read_samples(struct watch *watch, struct uspl_err *err)
{
	struct sample *sample = watch->state;

	sample->err = err;
	return perf_read(&sample->perf, take_sample, sample);
}

static void add_losses(const struct sample *sample, struct buf *out)
{
	stacks_add_losses(&sample->stacks, out);
	if (sample->perf.lost)
		buf_addf(out, "# %" PRIu64 " samples could not be kept\n", sample->perf.lost);
}

static int print_text(struct watch *watch, struct sample *sample, struct uspl_err *err)
{
	buf_addf(&watch->out,
		 "# tracer: sample, pid %d (%s): %" PRIu64
		 " samples in %.1f s, %d a second of each "
		 "running thread%s\n",
		 watch->proc->pid, watch->proc->comm, sample->samples,
		 (double)(clock_now_ns() - watch->start_ns) / 1e9, sample->freq,
		 sample->kernel ? "" : ", not in the kernel");
	add_losses(sample, &watch->out);
	return calltree_add_text(&sample->tree, LEAST, &watch->out, err);
}

static int end_sample(struct watch *watch, struct uspl_err *err)
{
	struct sample *sample = watch->state;
	auto_buf struct buf losses = { 0 };

	if (watch->format == &format_text)
		return print_text(watch, sample, err);
	if (watch->format == &format_json)
		calltree_add_json(&sample->tree, "samples", &watch->out);
	else
		calltree_add_folded(&sample->tree, &watch->out);
	add_losses(sample, &losses);
	watch_print_losses(watch, &losses);
	return 0;
}

static void close_sample(struct watch *watch)
{
	struct sample *sample = watch->state;

	perf_close(&sample->perf);
	stacks_close(&sample->stacks);
	calltree_release(&sample->tree);
}

static const struct tracer_watch watching = {
	.formats = { &format_text, &format_json, &format_folded },
	.open = open_sample,
	.read = read_samples,
	.end = end_sample,
	.close = close_sample,
};

const struct tracer tracer_sample = {
	.name = "sample",
	.help = "stacks of running threads, a thousand times a second",
	.options = options,
	.n_options = ARRAY_SIZE(options),
	.state_size = sizeof(struct sample),
	.watch = &watching,
};
