// SPDX-License-Identifier: GPL-3.0-or-later
// smaps.c - how much of each mapping of a process is resident (proc(5), /proc/PID/smaps)

#include "trace/tally/smaps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

int smaps_read(const struct proc *proc, struct smaps *ret, struct uspl_err *err)
{
	char path[64];
	auto_free char *line = NULL;
	size_t cap = 0;
	auto_fclose FILE *in = NULL;
	uint64_t start, end, kb;
	struct smap *map;

	snprintf(path, sizeof(path), "/proc/%d/smaps", proc->pid);
	in = fopen(path, "re");
	if (!in)
		return uspl_fail_errno(err, "cannot read '%s'", path);
	while (getline(&line, &cap, in) > 0) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &start, &end) == 2) {
			map = vec_push(&ret->items);
			if (!map)
				return uspl_fail_nomem(err);
			*map = (struct smap){ .start = start, .end = end };
		} else if (ret->items.n && sscanf(line, "Rss: %" SCNu64 " kB", &kb) == 1) {
			ret->items.items[ret->items.n - 1].resident = kb << 10;
		}
	}
	return 0;
}

void smaps_release(struct smaps *smaps)
{
	vec_release(&smaps->items);
}

struct smap *smaps_at(const struct smaps *smaps, taddr addr)
{
	size_t i = vec_lower_bound(&smaps->items, it, it->end <= addr);

	return i < smaps->items.n && smaps->items.items[i].start <= addr ? &smaps->items.items[i]
									 : NULL;
}
