// SPDX-License-Identifier: GPL-3.0-or-later
// breakpoint.c - ends with 0 if the processor's breakpoints are met here; virtual machines may have
// none, though the kernel takes them

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static __attribute__((noinline)) void pass_by(void)
{
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = (uint64_t)(uintptr_t)pass_by,
		.bp_len = sizeof(long),
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	uint64_t count = 0;

	pass_by();
	return fd < 0 || read(fd, &count, sizeof(count)) != sizeof(count) || !count;
}
