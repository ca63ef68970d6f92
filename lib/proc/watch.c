// SPDX-License-Identifier: GPL-3.0-or-later
// watch.c - the moment at which a thread comes to a place in its code, seen without stopping it

#include "proc/watch.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/regs.h"

#define PAGE 4096u
/* The kernel's own page in front, and one page of notes: a pass takes 32 bytes. */
#define RING_LEN (2 * PAGE)

/* What the kernel notes at each pass, as struct perf_event_attr asks for it below. */
struct pass {
	struct perf_event_header header;
	uint64_t time;
	uint64_t abi;
	uint64_t sp;
};

int watch_open(struct watch *watch, pid_t tid, taddr pc, taddr sp, struct uspl_err *err)
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
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	*watch = (struct watch){ .tid = tid, .pc = pc, .sp = sp, .fd = (int)fd };
	if (fd < 0)
		return uspl_fail_errno(err, "cannot watch thread %d", tid);
	/* Without a ring poll() says POLLHUP. */
	watch->ring = mmap(NULL, RING_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, watch->fd, 0);
	if (watch->ring == MAP_FAILED) {
		uspl_fail_errno(err, "cannot map the notes on thread %d", tid);
		watch->ring = NULL;
		watch_close(watch);
		return -(int)(err ? err->code : USPL_E_SYSTEM);
	}
	return 0;
}

void watch_close(struct watch *watch)
{
	if (watch->ring)
		munmap(watch->ring, RING_LEN);
	if (watch->fd >= 0)
		close(watch->fd);
	watch->ring = NULL;
	watch->fd = -1;
}

/* Copies out of the ring, whose end goes on at its beginning. */
static void copy_out(const uint8_t *notes, uint64_t at, void *to, size_t len)
{
	size_t first = PAGE - at % PAGE < len ? PAGE - at % PAGE : len;

	memcpy(to, notes + at % PAGE, first);
	memcpy((uint8_t *)to + first, notes, len - first);
}

static bool is_pass(const struct watch *watch, const struct pass *pass, int64_t since_ns)
{
	/* Passes that had no room: one of them may be ours. */
	if (pass->header.type == PERF_RECORD_LOST)
		return true;
	return pass->header.type == PERF_RECORD_SAMPLE && pass->header.size == sizeof(*pass) &&
	       pass->sp == watch->sp && (int64_t)pass->time >= since_ns;
}

bool watch_passed(struct watch *watch, int64_t since_ns)
{
	struct perf_event_mmap_page *page = watch->ring;
	struct pollfd ended = { .fd = watch->fd, .events = 0 };
	bool passed = false;
	uint64_t at, head;

	if (!page)
		return false;
	/* Partner of the kernel's barriers: linux/perf_event.h on data_head and data_tail. */
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	for (at = page->data_tail; at + sizeof(struct perf_event_header) <= head;) {
		struct pass pass = { 0 };

		copy_out((uint8_t *)watch->ring + PAGE, at, &pass.header, sizeof(pass.header));
		if (!pass.header.size || pass.header.size > head - at)
			break;
		if (pass.header.size <= sizeof(pass))
			copy_out((uint8_t *)watch->ring + PAGE, at, &pass, pass.header.size);
		passed |= is_pass(watch, &pass, since_ns);
		at += pass.header.size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return passed || (poll(&ended, 1, 0) > 0 && (ended.revents & POLLHUP));
}
