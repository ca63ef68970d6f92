// SPDX-License-Identifier: GPL-3.0-or-later
// private_pages.c - which pages of a process it shares with no file and no other process

#include "proc/private_pages.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES 256

/* Bits of an entry of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
#define PRESENT (1ull << 63)
#define OF_FILE (1ull << 61)   /* a file's page that the program hasn't written to */
#define EXCLUSIVE (1ull << 56) /* no other process maps it, as a child of fork would */

/* Which ones have of the bits `mask` only those of `want`. */
static void ask(const struct proc *proc, taddr addr, size_t n, uint64_t mask, uint64_t want,
		bool *ret)
{
	uint64_t entries[ENTRIES];
	auto_close int fd = -1;
	char path[64];

	memset(ret, 0, n * sizeof(*ret));
	snprintf(path, sizeof(path), "/proc/%d/task/%d/pagemap", proc->pid, proc_task(proc));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (size_t at = 0, some; fd >= 0 && at < n; at += some) {
		ssize_t got;

		some = n - at < ENTRIES ? n - at : ENTRIES;
		got = pread(fd, entries, some * 8, (off_t)((addr / PAGE + at) * 8));
		for (size_t i = 0; got > 0 && i < (size_t)got / 8; i++)
			ret[at + i] = (entries[i] & mask) == want;
	}
}

void private_pages(const struct proc *proc, taddr addr, size_t n, bool *ret_private)
{
	ask(proc, addr, n, PRESENT | OF_FILE | EXCLUSIVE, PRESENT | EXCLUSIVE, ret_private);
}

void private_pages_copied(const struct proc *proc, taddr addr, size_t n, bool *ret_copied)
{
	ask(proc, addr, n, PRESENT | OF_FILE, PRESENT, ret_copied);
}
