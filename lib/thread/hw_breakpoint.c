// SPDX-License-Identifier: GPL-3.0-or-later
// hw_breakpoint.c - the moment at which a thread comes to a place in its code, seen without
// stopping it

#include "thread/hw_breakpoint.h"

#include <linux/hw_breakpoint.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "arch/regs.h"
#include "base/cleanup.h"

/* One page of notes: a pass takes 32 bytes. */
#define RING_LEN 4096

/* What the kernel notes at each pass, as struct perf_event_attr asks for it below. */
struct pass {
	struct perf_event_header header;
	uint64_t time;
	uint64_t abi;
	uint64_t sp;
};

static __attribute__((noinline)) void pass_by(void)
{
	__asm__ volatile("" ::: "memory");
}

/*
 * Virtual machines may lack them: the kernel takes the breakpoint, and it is never met (seen on an
 * AMD EPYC under Firecracker, Linux 6.18). So the tool tries one on itself.
 */
static bool is_met(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = (uint64_t)(uintptr_t)pass_by,
		.bp_len = sizeof(long),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	auto_close int fd = perf_event_fd(&attr, 0, -1);
	uint64_t count = 0;

	if (fd < 0)
		return true;
	pass_by();
	return read(fd, &count, sizeof(count)) != sizeof(count) || count;
}

int hw_breakpoint_open(struct hw_breakpoint *breakpoint, pid_t tid, taddr pc, taddr sp,
		       struct uspl_err *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = pc,
		.bp_len = sizeof(long),
		.sample_period = 1,
		.wakeup_events = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER,
		.sample_regs_user = regs_perf_sp(),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int rc;

	*breakpoint = (struct hw_breakpoint){ .tid = tid, .pc = pc, .sp = sp };
	breakpoint->fd = perf_event_fd(&attr, tid, -1);
	if (breakpoint->fd < 0)
		return uspl_fail_errno(err, "cannot watch thread %d", tid);
	/* Without a ring poll() says POLLHUP. */
	rc = perf_ring_map(&breakpoint->ring, breakpoint->fd, RING_LEN, err);
	if (!rc && !is_met())
		rc = uspl_fail(err, USPL_E_UNSUPPORTED,
			       "hardware breakpoints are never met on this machine");
	if (rc)
		hw_breakpoint_close(breakpoint);
	return rc;
}

void hw_breakpoint_close(struct hw_breakpoint *breakpoint)
{
	perf_ring_unmap(&breakpoint->ring);
	if (breakpoint->fd >= 0)
		close(breakpoint->fd);
	breakpoint->fd = -1;
}

/* The question of hw_breakpoint_passed, and its answer. */
struct asked {
	const struct hw_breakpoint *breakpoint;
	int64_t since_ns;
	bool passed;
};

static int ask_note(void *ctx, const struct perf_event_header *note)
{
	const struct pass *pass = (const struct pass *)note;
	struct asked *asked = ctx;

	/* Passes that had no room: one of them may be this one. */
	asked->passed |=
		note->type == PERF_RECORD_LOST ||
		(note->type == PERF_RECORD_SAMPLE && note->size == sizeof(*pass) &&
		 pass->sp == asked->breakpoint->sp && (int64_t)pass->time >= asked->since_ns);
	return 0;
}

bool hw_breakpoint_passed(struct hw_breakpoint *breakpoint, int64_t since_ns)
{
	struct asked asked = { breakpoint, since_ns, false };
	struct pollfd ended = { .fd = breakpoint->fd, .events = 0 };

	if (!breakpoint->ring.map)
		return false;
	perf_ring_read(&breakpoint->ring, ask_note, &asked);
	return asked.passed || (poll(&ended, 1, 0) > 0 && (ended.revents & POLLHUP));
}
