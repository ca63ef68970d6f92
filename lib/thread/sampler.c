// SPDX-License-Identifier: GPL-3.0-or-later
// sampler.c - where a thread runs at some moment, with its stack, without stopping it

#include "thread/sampler.h"

#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/*
 * From the question to the note: long enough for what has to be done before, short since a thread
 * may wait for it. The kernel's clock for this is no finer than 10 us.
 */
#define PERIOD_NS 25000
/* Room for two notes of a stack, with what is around it: a power of two. */
#define RING_LEN (4 * SAMPLE_STACK)

/* What comes before the registers, and behind them. */
struct note_head {
	struct perf_event_header header;
	uint64_t time;
	uint64_t abi;
	uint64_t regs[];
};

struct glance {
	struct thread_sample *thread_sample;
	int64_t since;
	bool taken;
};

static int take_note(void *ctx, const struct perf_event_header *note)
{
	const struct note_head *head = (const struct note_head *)note;
	struct glance *glance = ctx;
	struct thread_sample *thread_sample = glance->thread_sample;
	const uint64_t set = regs_perf_all();
	const uint64_t *stack =
		&head->regs[__builtin_popcountll(set)]; /* its size, and the bytes */
	size_t len = sizeof(*head) + (size_t)__builtin_popcountll(set) * sizeof(uint64_t);
	uint64_t filled;

	if (glance->taken || note->type != PERF_RECORD_SAMPLE ||
	    note->size < len + 2 * sizeof(uint64_t) + SAMPLE_STACK ||
	    (int64_t)head->time < glance->since || head->abi != PERF_SAMPLE_REGS_ABI_64 ||
	    *stack != SAMPLE_STACK)
		return 0;
	memcpy(&filled, (const uint8_t *)(stack + 1) + SAMPLE_STACK, sizeof(filled));
	thread_sample->stack_len = filled < SAMPLE_STACK ? filled : SAMPLE_STACK;
	memcpy(thread_sample->stack, stack + 1, thread_sample->stack_len);
	regs_from_perf(head->regs, set, &thread_sample->regs);
	glance->taken = true;
	return 0;
}

bool sampler_open(struct sampler *sampler, pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = PERIOD_NS,
		.wakeup_events = 1,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = regs_perf_all(),
		.sample_stack_user = SAMPLE_STACK,
	};

	*sampler = (struct sampler){ .tid = tid, .fd = perf_event_fd(&attr, tid, -1) };
	if (sampler->fd < 0)
		return false;
	if (perf_ring_map(&sampler->ring, sampler->fd, RING_LEN, NULL) == 0)
		return true;
	close(sampler->fd);
	return false;
}

void sampler_close(struct sampler *sampler)
{
	perf_ring_unmap(&sampler->ring);
	close(sampler->fd);
}

bool sampler_arm(struct sampler *sampler)
{
	/* One note, and no more: in a virtual machine each interrupt may take 40 us. */
	return ioctl(sampler->fd, PERF_EVENT_IOC_REFRESH, 1) == 0;
}

bool sampler_take(struct sampler *sampler, int64_t since, struct thread_sample *ret)
{
	struct glance glance = { .thread_sample = ret, .since = since };

	perf_ring_read(&sampler->ring, take_note, &glance);
	return glance.taken;
}

bool sampler_await(struct sampler *sampler, int64_t deadline, struct thread_sample *ret)
{
	struct pollfd noted = { .fd = sampler->fd, .events = POLLIN };
	/* Before it is armed: the one note may come before the next line. */
	int64_t since = clock_now_ns(), left;
	bool taken;

	if (!sampler_arm(sampler))
		return false;
	do {
		taken = sampler_take(sampler, since, ret);
		left = deadline - clock_now_ns();
	} while (!taken && left > 0 && poll(&noted, 1, (int)(left / 1000000) + 1) >= 0);
	return taken;
}
