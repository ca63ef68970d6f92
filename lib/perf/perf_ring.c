// SPDX-License-Identifier: GPL-3.0-or-later
// perf_ring.c - the memory in which the kernel notes what a perf event is to tell

#include "perf/perf_ring.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int perf_event_fd(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int perf_ring_map(struct perf_ring *ring, int fd, size_t len, struct uspl_err *err)
{
	void *map = mmap(NULL, PAGE + len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return uspl_fail_errno(err, "cannot map the kernel's notes");
	*ring = (struct perf_ring){ map, len };
	return 0;
}

void perf_ring_unmap(struct perf_ring *ring)
{
	if (ring->map)
		munmap(ring->map, PAGE + ring->len);
	ring->map = NULL;
}

/* Copies out of the notes, which go on at the ring's beginning behind its end. */
static void copy_out(const struct perf_ring *ring, uint64_t at, void *to, size_t len)
{
	const uint8_t *notes = (const uint8_t *)ring->map + PAGE;
	size_t offset = at & (ring->len - 1);
	size_t first = ring->len - offset < len ? ring->len - offset : len;

	memcpy(to, notes + offset, first);
	memcpy((uint8_t *)to + first, notes, len - first);
}

int perf_ring_read(struct perf_ring *ring,
		   int (*visit)(void *ctx, const struct perf_event_header *note), void *ctx)
{
	struct perf_event_mmap_page *page = ring->map;
	/* Only a note that goes over the end is copied; its length is a 16-bit number. */
	uint64_t whole[(UINT16_MAX + 1) / sizeof(uint64_t)];
	uint64_t at, head;
	int rc = 0;

	if (!page)
		return 0;
	/* Partner of the kernel's barriers: linux/perf_event.h on data_head and data_tail. */
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	for (at = page->data_tail; !rc && at + sizeof(struct perf_event_header) <= head;) {
		size_t offset = at & (ring->len - 1);
		const void *note = (const uint8_t *)ring->map + PAGE + offset;
		struct perf_event_header header;

		copy_out(ring, at, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - at)
			break;
		if (header.size > ring->len - offset) {
			copy_out(ring, at, whole, header.size);
			note = whole;
		}
		at += header.size;
		rc = visit(ctx, note);
	}
	__atomic_store_n(&page->data_tail, at, __ATOMIC_RELEASE);
	return rc;
}
