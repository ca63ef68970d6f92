// SPDX-License-Identifier: GPL-3.0-or-later
// breakpoint.c - ends with 0 if the processor's breakpoints are met here; virtual machines may have
// none, though the kernel takes them. With thread ids: takes all breakpoints of these threads

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static __attribute__((noinline)) void pass_by(void)
{
	__asm__ volatile("" ::: "memory");
}

/* A thread has four of them. */
static int open_one(int tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = (uint64_t)(uintptr_t)pass_by,
		.bp_len = sizeof(long),
		.exclude_kernel = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, 0);
}

int main(int argc, char **argv)
{
	uint64_t count = 0;
	int fd;

	for (int i = 1; i < argc; i++)
		while (open_one(atoi(argv[i])) >= 0)
			;
	if (argc > 1) {
		puts("ready");
		fflush(stdout);
		alarm(300);
		return pause();
	}
	fd = open_one(0);
	pass_by();
	return fd < 0 || read(fd, &count, sizeof(count)) != sizeof(count) || !count;
}
