/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target.h - the memory of a process that the fuzzer's bytes describe: the readers find it in a
 * file
 *
 * Up to eight mappings: a byte says of what kind, one how many pages, two how many bytes of
 * contents follow; the rest is zeros. They lie a megabyte apart from 1 MB on, so that addresses in
 * a corpus mean something. The pid is more than the kernel gives.
 */
#ifndef USPL_TESTS_FUZZ_TARGET_H
#define USPL_TESTS_FUZZ_TARGET_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proc/proc.h"
#include "tests/fuzz/input.h"

enum { TARGET_MAPS = 8, TARGET_STEP = 1 << 20, TARGET_PID = 1 << 30 };

static inline void target_map(struct proc *proc, struct input *in, size_t i)
{
	static const char *const paths[] = { "", "", "/usr/bin/program", "/lib/lib.so", "[heap]" };
	uint8_t kind = (uint8_t)input_number(in, 1), bytes[16384] = { 0 };
	size_t pages = 1 + input_below(in, 4), len = (size_t)input_number(in, 2) % sizeof(bytes);
	struct mapping *map = vec_push(&proc->maps);
	taddr start = (i + 1) * (taddr)TARGET_STEP;

	if (!map)
		abort();
	*map = (struct mapping){ .start = start,
				 .end = start + pages * PAGE,
				 .read = !(kind & 1),
				 .write = kind & 2,
				 .exec = kind & 4,
				 .path = strdup(paths[(kind >> 4) % 5]) };
	map->inode = map->path[0] == '/';
	map->offset = kind & 8 ? 0 : input_number(in, 1) * PAGE;
	len = len < pages * PAGE ? len : pages * PAGE;
	input_take(in, bytes, len);
	if (pwrite(proc->mem_fd, bytes, pages * PAGE, (off_t)start) < 0)
		abort();
}

/* A process without mappings. What asks the kernel for it learns that it isn't there. */
static inline struct proc *target_new(void)
{
	struct proc *proc = calloc(1, sizeof(*proc));

	if (!proc)
		abort();
	proc->pid = proc->tid = TARGET_PID;
	proc->mem_fd = memfd_create("target", MFD_CLOEXEC);
	for (int i = 0; i < PROC_LOCKS; i++)
		proc->lock_fds[i] = -1;
	if (proc->mem_fd < 0)
		abort();
	return proc;
}

static inline struct proc *target_open(struct input *in)
{
	struct proc *proc = target_new();

	for (size_t n = 1 + input_below(in, TARGET_MAPS), i = 0; i < n; i++)
		target_map(proc, in, i);
	return proc;
}

#endif
