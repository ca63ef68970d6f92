// SPDX-License-Identifier: GPL-3.0-or-later
// records_fuzz.c - the records of updates, traces and markers, and rings, as a hostile process has
// them
/*
 * A record that doesn't know its own address and version isn't looked at any further: so these are
 * put in where a mapping begins with a record's magic.
 */

#include <stddef.h>

#include "record/probe_records.h"
#include "record/region.h"
#include "record/region_status.h"
#include "record/trace_records.h"
#include "tests/fuzz/target.h"
#include "trace/log/ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(const struct proc *proc, taddr at, const void *value, size_t len)
{
	if (pwrite(proc->mem_fd, value, len, (off_t)at) < 0)
		abort();
}

static void mend(const struct proc *proc, const struct mapping *map, uint8_t kind)
{
	static const uint64_t magics[] = { USPL_REGION_MAGIC, USPL_TRACE_MAGIC, USPL_MARK_MAGIC };
	static const uint32_t versions[] = { USPL_ABI_VERSION, USPL_TRACE_ABI_VERSION,
					     USPL_MARK_VERSION };
	static const size_t selfs[] = { offsetof(struct uspl_region, self),
					offsetof(struct uspl_trace_region, self),
					offsetof(struct uspl_mark_region, self) };
	size_t i = kind % 4;

	if (i == 3)
		return;
	/* An update's record has hooks, or none. */
	if (!i && kind & 4)
		put(proc, map->start + 8, &(uint32_t){ USPL_ABI_VERSION_HOOKS }, 4);
	else
		put(proc, map->start + 8, &versions[i], sizeof(versions[i]));
	put(proc, map->start, &magics[i], sizeof(magics[i]));
	put(proc, map->start + selfs[i], &map->start, sizeof(map->start));
}

static void read_records(struct proc *proc)
{
	region_vec regions = { 0 };
	struct marks marks = { 0 };
	struct trace_session session = { 0 };
	struct uspl_err err = { 0 };
	int rc = regions_read(proc, &regions, &err);

	if (rc && !err.msg[0])
		abort();
	err = (struct uspl_err){ 0 };
	rc = trace_session_read(proc, &session, &err);
	if (rc && !err.msg[0])
		abort();
	err = (struct uspl_err){ 0 };
	rc = marks_read(proc, &marks, &err);
	if (rc && !err.msg[0])
		abort();
	if (!rc)
		for (size_t i = 0; i < marks.regions.n; i++)
			(void)strlen(mark_text(&marks.regions.items[i], (uint32_t)i * 100));
	regions_release(&regions);
	trace_session_release(&session);
	marks_release(&marks);
}

static void read_ring(struct proc *proc, struct input *in)
{
	const struct mapping *map = proc->maps.items;
	struct trace_values values = { 0 };
	struct trace_ring ring = { .addr = map->start,
				   .mask = 4095,
				   .entries = input_below(in, 2),
				   .last = input_below(in, 2),
				   .pos = input_number(in, 2),
				   .values = &values };
	trace_records records = { 0 };
	struct uspl_err err = { 0 };

	for (int i = 0; i < 2; i++)
		if (ring_read(proc, &ring, &records, &err) && !err.msg[0])
			abort();
	vec_release(&records);
	vec_release(&values.records);
	buf_release(&values.bytes);
	buf_release(&values.texts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint32_t kinds = (uint32_t)input_number(&in, 4);
	uint8_t what = (uint8_t)input_number(&in, 1);
	auto_proc struct proc *proc = target_open(&in);

	for (size_t i = 0; i < proc->maps.n; i++)
		mend(proc, &proc->maps.items[i], (uint8_t)(kinds >> 4 * i));
	if (what & 1)
		read_ring(proc, &in);
	else
		read_records(proc);
	return 0;
}
