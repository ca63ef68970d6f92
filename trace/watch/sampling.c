// SPDX-License-Identifier: GPL-3.0-or-later
// sampling.c - looking at running threads many times a second
//
// The kernel's own timer looks at each thread while it runs on a processor, and copies its
// registers and the top of its stack; nothing is stopped, and the program needs no frame pointers.

#include "trace/output/tracer.h"
#include "trace/watch/sampling.h"
#include "trace/watch/watch_loop.h"

#include <inttypes.h>
#include <unistd.h>

#define FREQ_DEFAULT 1000
#define FREQ_MAX 10000
#define STACK_KB_DEFAULT 16
/* The kernel's records are below 64 KB, with all that is in them. */
#define STACK_KB_MAX 60
#define RING_LEN (4u << 20)
/* How often we read at least: a ring is read earlier when it is half full. */
#define READ_NS 100000000
#define PROCESSORS_MAX 32
/*
 * In step with the scheduler's own clock, which also counts in milliseconds, we would see the same
 * moment of each tick only. So we are a little faster, and come through all of them once a second.
 */
#define DRIFT 1024

/*
 * A timer that goes with a thread is set and taken back at each switch to it and from it (4 to 8 us
 * in a virtual machine), a timer of a processor is not, but sees every thread that runs there. So
 * we look at processors, if we may and they aren't many.
 */
static int open_perf(struct sampling *sampling, bool processors, bool kernel, struct uspl_err *err)
{
	int period = 1000000000 / sampling->freq;
	struct perf_kind kind = {
		.attr = { .type = PERF_TYPE_SOFTWARE,
			  .config = PERF_COUNT_SW_CPU_CLOCK,
			  .sample_period = (uint64_t)(period - period / DRIFT),
			  .exclude_kernel = !kernel,
			  .exclude_idle = 1 },
		.everybody = processors,
	};
	int rc;

	stacks_ask(&kind.attr, (size_t)sampling->stack_kb << 10);
	rc = perf_open(&sampling->perf, sampling->proc, &kind, 1, RING_LEN, err);
	if (rc)
		perf_close(&sampling->perf);
	sampling->kernel = kernel;
	return rc;
}

int sampling_open(struct sampling *sampling, struct watch *watch, struct uspl_err *err)
{
	int rc;

	sampling->proc = watch->proc;
	sampling->freq = sampling->freq ? sampling->freq : FREQ_DEFAULT;
	sampling->stack_kb = sampling->stack_kb ? sampling->stack_kb : STACK_KB_DEFAULT;
	watch->interval_ns = READ_NS;
	if (sampling->freq > FREQ_MAX)
		return uspl_fail(err, USPL_E_USAGE, "'--freq=%d' is more than %d", sampling->freq,
				 FREQ_MAX);
	if (sampling->stack_kb > STACK_KB_MAX)
		return uspl_fail(err, USPL_E_USAGE, "'--stack=%d' is more than %d",
				 sampling->stack_kb, STACK_KB_MAX);
	rc = stacks_open(&sampling->stacks, watch->proc, (size_t)sampling->stack_kb << 10, err);
	if (rc)
		return rc;
	/* The best that is permitted. */
	rc = -USPL_E_PERMISSION;
	if (sysconf(_SC_NPROCESSORS_ONLN) <= PROCESSORS_MAX)
		rc = open_perf(sampling, true, true, err);
	if (rc == -USPL_E_PERMISSION)
		rc = open_perf(sampling, false, true, err);
	if (rc == -USPL_E_PERMISSION)
		rc = open_perf(sampling, false, false, err);
	if (rc)
		return rc;
	rc = watch_add_perf(watch, &sampling->perf, err);
	if (rc)
		return rc;
	return perf_enable(&sampling->perf, err);
}

void sampling_close(struct sampling *sampling)
{
	perf_close(&sampling->perf);
	stacks_close(&sampling->stacks);
}

/* The caller's request, while notes are read. */
struct reading {
	struct sampling *sampling;
	int (*visit)(void *ctx, const struct perf_note *note);
	void *ctx;
	struct uspl_err *err;
};

static int take_sample(void *ctx, const struct perf_note *note)
{
	const struct reading *reading = ctx;
	struct sampling *sampling = reading->sampling;
	int rc;

	if (note->type != PERF_RECORD_SAMPLE || note->pid != sampling->proc->pid)
		return 0;
	rc = stacks_follow(&sampling->stacks, note, reading->err);
	if (rc)
		return rc;
	sampling->samples++;
	return reading->visit(reading->ctx, note);
}

int sampling_read(struct sampling *sampling, int (*visit)(void *ctx, const struct perf_note *note),
		  void *ctx, struct uspl_err *err)
{
	struct reading reading = { sampling, visit, ctx, err };

	return perf_read(&sampling->perf, take_sample, &reading);
}

void sampling_add_losses(const struct sampling *sampling, struct buf *out)
{
	stacks_add_losses(&sampling->stacks, out);
	if (sampling->perf.lost)
		buf_addf(out, "# %" PRIu64 " samples could not be kept\n", sampling->perf.lost);
}
