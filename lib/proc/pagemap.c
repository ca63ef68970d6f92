// SPDX-License-Identifier: GPL-3.0-or-later
// pagemap.c - what the kernel says of each page of a process

#include "proc/pagemap.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int pagemap_open(const struct proc *proc)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/pagemap", proc->pid, proc_task(proc));
	return open(path, O_RDONLY | O_CLOEXEC);
}

size_t pagemap_read(int pagemap, taddr addr, uint64_t *ret, size_t n)
{
	ssize_t got = pread(pagemap, ret, n * sizeof(*ret), (off_t)(addr / PAGE * sizeof(*ret)));

	return got > 0 ? (size_t)got / sizeof(*ret) : 0;
}

bool pagemap_is_guard(int pagemap, const struct proc *proc, taddr addr)
{
	uint64_t entry;
	uint8_t byte;

	if (!pagemap_read(pagemap, addr, &entry, 1))
		return false;
	if (entry & PAGEMAP_GUARD)
		return true;
	/* A read of one that the program fills in itself would wait for that. */
	return (entry & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED | PAGEMAP_AWAITED)) == PAGEMAP_SWAPPED &&
	       proc_read_some(proc, addr, &byte, sizeof(byte)) != sizeof(byte);
}
