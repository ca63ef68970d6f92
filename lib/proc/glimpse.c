// SPDX-License-Identifier: GPL-3.0-or-later
// glimpse.c - where a thread runs at some moment, with its stack, without stopping it

#include "proc/glimpse.h"

#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "proc/perf_ring.h"

/* The kernel's clock for this is no finer than 10 us. */
#define PERIOD_NS 20000
/* One note of a stack, and what is around it: a power of two. */
#define RING_LEN (2 * GLIMPSE_STACK)

/* What comes before the registers, and behind them. */
struct note_head {
	struct perf_event_header header;
	uint64_t abi;
	uint64_t regs[];
};

struct glance {
	struct glimpse *glimpse;
	bool taken;
};

static int take_note(void *ctx, const struct perf_event_header *note)
{
	const struct note_head *head = (const struct note_head *)note;
	struct glance *glance = ctx;
	struct glimpse *glimpse = glance->glimpse;
	const uint64_t set = regs_perf_all();
	const uint64_t *stack =
		&head->regs[__builtin_popcountll(set)]; /* its size, and the bytes */
	size_t len = sizeof(*head) + (size_t)__builtin_popcountll(set) * sizeof(uint64_t);
	uint64_t filled;

	if (glance->taken || note->type != PERF_RECORD_SAMPLE ||
	    note->size < len + 2 * sizeof(uint64_t) + GLIMPSE_STACK ||
	    head->abi != PERF_SAMPLE_REGS_ABI_64 || *stack != GLIMPSE_STACK)
		return 0;
	memcpy(&filled, (const uint8_t *)(stack + 1) + GLIMPSE_STACK, sizeof(filled));
	glimpse->stack_len = filled < GLIMPSE_STACK ? filled : GLIMPSE_STACK;
	memcpy(glimpse->stack, stack + 1, glimpse->stack_len);
	regs_from_perf(head->regs, set, &glimpse->regs);
	glance->taken = true;
	return 0;
}

/* Until the kernel has noted something. */
static void await_note(int fd, int64_t deadline)
{
	struct pollfd noted = { .fd = fd, .events = POLLIN };
	int64_t left;

	do {
		left = deadline - clock_now_ns();
	} while (left > 0 && poll(&noted, 1, (int)(left / 1000000) + 1) == 0);
}

bool glimpse_take(pid_t tid, int64_t deadline, struct glimpse *ret)
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
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = regs_perf_all(),
		.sample_stack_user = GLIMPSE_STACK,
	};
	struct glance glance = { .glimpse = ret };
	struct perf_ring ring = { 0 };
	int fd = perf_event_fd(&attr, tid, -1);

	if (fd < 0)
		return false;
	/* One note, and no more. */
	if (perf_ring_map(&ring, fd, RING_LEN, NULL) == 0 &&
	    ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) == 0) {
		await_note(fd, deadline);
		perf_ring_read(&ring, take_note, &glance);
	}
	perf_ring_unmap(&ring);
	close(fd);
	return glance.taken;
}
