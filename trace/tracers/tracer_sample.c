// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_sample.c - where running threads are, looked at many times a second
//
// What a thread does asleep isn't seen: see the tracer 'sched'.

#include <inttypes.h>

#include "trace/output/formats.h"
#include "trace/output/tracer.h"
#include "trace/tracers/tracers.h"
#include "trace/output/calltree.h"
#include "trace/output/page.h"
#include "trace/output/tree_formats.h"
#include "trace/watch/sampling.h"
#include "trace/watch/watch_loop.h"

/* Less than this share of all samples isn't printed as text. */
#define LEAST 0.005

struct sample {
	struct sampling sampling; /* with options */
	struct calltree tree;
	struct uspl_err *err;
};

static const struct tracer_option options[] = {
	{ "freq", "N", CLI_INT, offsetof(struct sample, sampling.freq),
	  "look at each running thread so many times a second (default 1000)" },
	{ "stack", "KB", CLI_INT, offsetof(struct sample, sampling.stack_kb),
	  "copy so much of each stack (default 16, at most 60)" },
};

static int open_sample(struct watch *watch, struct uspl_err *err)
{
	struct sample *sample = watch->state;

	return sampling_open(&sample->sampling, watch, err);
}

static int take_sample(void *ctx, const struct perf_note *note)
{
	struct sample *sample = ctx;
	struct stacks *stacks = &sample->sampling.stacks;
	const struct symbol *thread = stacks_thread(stacks, note->tid);

	if (!thread)
		return uspl_fail_nomem(sample->err);
	return calltree_add(&sample->tree, thread, stacks->chain.items, stacks->chain.n, 1,
			    sample->err);
}

static int read_samples(struct watch *watch, struct uspl_err *err)
{
	struct sample *sample = watch->state;

	sample->err = err;
	return sampling_read(&sample->sampling, take_sample, sample, err);
}

static int end_sample(struct watch *watch, struct uspl_err *err)
{
	struct sample *sample = watch->state;
	const struct sampling *sampling = &sample->sampling;
	auto_buf struct buf losses = { 0 };

	if (watch->format == &format_text) {
		buf_addf(&watch->out,
			 "# tracer: sample, pid %d (%s): %" PRIu64
			 " samples in %.1f s, %d a second of each "
			 "running thread%s\n",
			 watch->proc->pid, watch->proc->comm, sampling->samples,
			 (double)(clock_now_ns() - watch->start_ns) / 1e9, sampling->freq,
			 sampling->kernel ? "" : ", not in the kernel");
		sampling_add_losses(sampling, &watch->out);
		return calltree_add_text(&sample->tree, LEAST, &watch->out, err);
	}
	if (watch->format == &format_json)
		calltree_add_json(&sample->tree, "samples", &watch->out);
	else
		tree_add(watch->format, &sample->tree,
			 &(struct page_head){ watch->proc->comm, "sample", watch->proc->pid, 0,
					      sampling->perf.lost, 0 },
			 "samples", &watch->out);
	if (!sampling->kernel)
		buf_addstr(&losses, "# not seen: what runs in the kernel (CAP_PERFMON, "
				    "kernel.perf_event_paranoid)\n");
	sampling_add_losses(sampling, &losses);
	watch->lost = sampling->perf.lost;
	watch_print_losses(watch, &losses);
	return 0;
}

static void close_sample(struct watch *watch)
{
	struct sample *sample = watch->state;

	sampling_close(&sample->sampling);
	calltree_release(&sample->tree);
}

static const struct tracer_watch watching = {
	.formats = { &format_text, &format_json, &format_folded, &format_svg, &format_html },
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
