// SPDX-License-Identifier: GPL-3.0-or-later
// ring.c - what the target's threads have written into their rings
/*
 * The position only grows: it counts bytes ever taken. A record's place is taken first (one
 * instruction) and written then, so the last few may not be there yet: as many as signal handlers
 * are nested in each other. Such a place holds what was there a round before, or zeros in the first
 * round; a site's id is never 0. In a later round it holds the record that was the last one before
 * the oldest of this round, so it ends no later than that one does, while what was written in this
 * round ends after it.
 *
 * There is one exception: a call that signal handlers have interrupted while it was recorded, for
 * so long that the ring was written anew. It may be the oldest one then, wherever it stands, and
 * can't be told from what isn't written. A tool that reads on finds out; another one counts it.
 */

#include "trace/log/ring.h"

#include <string.h>

#include "uspl/listen_abi.h"

/* As many slots at the end of a ring as may be in the course of being written. */
#define UNSURE 512

union slot {
	struct uspl_trace_call call;
	struct uspl_trace_entry entry;
};

_Static_assert(sizeof(union slot) == USPL_TRACE_RECORD, "a record is a record");

/* A copy of a ring's records [first, end), in records ever taken. */
struct window {
	union slot *slots;
	uint64_t first, end;
	uint64_t round; /* the oldest record that the ring has room for */
};

static int read_header(const struct proc *proc, const struct trace_ring *ring,
		       struct uspl_trace_ring *ret, struct uspl_err *err)
{
	return proc_read(proc, ring->addr, ret, sizeof(*ret), err);
}

int ring_copy(const struct proc *proc, const struct ring_part *part, void *ret,
	      struct uspl_err *err)
{
	taddr data = part->ring + USPL_TRACE_RING_HEADER;
	uint64_t n = part->end - part->first, all = (part->mask + 1) / USPL_TRACE_RECORD;
	uint64_t at = part->first % all, head = n < all - at ? n : all - at;
	int rc = proc_read(proc, data + at * USPL_TRACE_RECORD, ret, head * USPL_TRACE_RECORD, err);

	if (rc)
		return rc;
	if (n > head)
		return proc_read(proc, data, (uint8_t *)ret + head * USPL_TRACE_RECORD,
				 (n - head) * USPL_TRACE_RECORD, err);
	return 0;
}

/* Copies records [window->first, end) out of the ring, which may wrap around. */
static int copy(const struct proc *proc, const struct trace_ring *ring, struct window *window,
		struct uspl_err *err)
{
	const struct ring_part part = { ring->addr, ring->mask, window->first, window->end };

	window->slots = calloc(window->end - window->first + 1, sizeof(*window->slots));
	if (!window->slots)
		return uspl_fail_nomem(err);
	return ring_copy(proc, &part, window->slots, err);
}

static bool is_long(const union slot *slot)
{
	return (slot->call.id & USPL_TRACE_ID_LONG) && slot->call.id != USPL_TRACE_ID_LONG;
}

/* The first slot of a record of values; those behind it are no records. */
static bool is_values(uint32_t id)
{
	return id == USPL_TRACE_ID_ARGS || id == USPL_TRACE_ID_RESULT;
}

/*
 * When the record was written; 0 for the first half of one whose second half isn't in the window.
 */
static uint64_t written_at(const struct trace_ring *ring, const struct window *window, uint64_t i)
{
	const union slot *slot = &window->slots[i - window->first];
	uint32_t id = slot->call.id;

	/* The slot has the time when it was written. */
	if (ring->entries || id == USPL_TRACE_ID_THREAD || id == USPL_TRACE_ID_LONG ||
	    is_values(id))
		return slot->call.start;
	if (is_long(slot))
		return i + 1 < window->end ? slot[1].call.start : 0;
	return slot->call.start + slot->call.duration;
}

/* From where on not all is written for sure, and how old the oldest record is. */
struct doubt {
	uint64_t from, oldest;
};

static struct doubt doubt_of(const struct trace_ring *ring, const struct window *oldest,
			     uint64_t end)
{
	uint64_t first = oldest->first;

	while (first + 1 < oldest->end &&
	       oldest->slots[first - oldest->first].call.id == USPL_MARK_MORE)
		first++;
	return (struct doubt){
		.from = end - first > UNSURE ? end - UNSURE : first + 1,
		.oldest = written_at(ring, oldest, first),
	};
}

/* True if the place isn't written for sure. */
static bool is_doubtful(const struct trace_ring *ring, const struct window *window,
			const struct doubt *doubt, uint64_t i)
{
	uint32_t id = window->slots[i - window->first].call.id;

	if (i == window->round)
		return !id;
	/* The rest of a record is as good as its first slot, which was written after it. */
	if (i < doubt->from || id == USPL_MARK_MORE)
		return false;
	/* What stands in the place is of an earlier round, or isn't whole. */
	return !id || (window->round && written_at(ring, window, i) <= doubt->oldest);
}

/* The end of what is written for sure. */
static uint64_t sure_end(const struct trace_ring *ring, const struct window *window,
			 const struct doubt *doubt)
{
	uint64_t i = window->first;

	if (i < window->end && is_doubtful(ring, window, doubt, i))
		return i;
	/* What lies before the window was read before. */
	for (i = doubt->from > i ? doubt->from : i; i < window->end; i++)
		if (is_doubtful(ring, window, doubt, i))
			break;
	return i < window->end ? i : window->end;
}

/* Keeps a record of values, which begins at i and goes on in n - 1 slots. */
static void keep_values(struct trace_ring *ring, const union slot *slot, uint64_t n, bool *ret_oom)
{
	struct trace_value_record *record = vec_push(&ring->values->records);
	struct buf *bytes = &ring->values->bytes;
	uint64_t start;

	*ret_oom = !record;
	if (!record)
		return;
	*record = (struct trace_value_record){ .id = slot->call.duration,
					       .tid = ring->tid,
					       .at = (uint32_t)(bytes->len + sizeof(start)),
					       .result = slot->call.id == USPL_TRACE_ID_RESULT };
	for (uint64_t i = 1; i < n; i++)
		buf_add(bytes, &slot[i], USPL_MARK_SLOT_ROOM);
	record->len = (uint32_t)((n - 1) * USPL_MARK_SLOT_ROOM - sizeof(start));
	if (!bytes->oom)
		memcpy(&record->start, bytes->data + record->at - sizeof(start), sizeof(start));
}

/* The same for a record of values. Returns how many places it takes, 0 if not all is there. */
static uint64_t take_values(struct trace_ring *ring, const struct window *window, uint64_t i,
			    uint64_t end, bool *ret_oom)
{
	const union slot *slot = &window->slots[i - window->first];
	uint64_t n = 1;

	while (i + n < end && slot[n].call.id == USPL_MARK_MORE)
		n++;
	/* It might go on behind the end. */
	if (i + n == end && end < window->end)
		return 0;
	if (n > 1 && ring->values)
		keep_values(ring, slot, n, ret_oom);
	return n;
}

/*
 * The record at i, and the second half of a long one. Returns how many places it takes, 0 if not
 * all is there.
 */
static uint64_t take(struct trace_ring *ring, const struct window *window, uint64_t i, uint64_t end,
		     trace_records *records, bool *ret_oom)
{
	const union slot *slot = &window->slots[i - window->first];
	struct trace_record *record;
	uint32_t id = slot->call.id;
	uint64_t n = 1;

	if (id == USPL_TRACE_ID_THREAD) {
		ring->tid_before = ring->tid;
		ring->taken_over = slot->call.start;
		ring->tid = (pid_t)slot->call.duration;
		return 1;
	}
	if (is_values(id))
		return take_values(ring, window, i, end, ret_oom);
	/* A second half whose first one was overwritten, or the rest of such a record. */
	if ((id == USPL_TRACE_ID_LONG && !ring->entries) || id == USPL_MARK_MORE)
		return 1;
	if (is_long(slot) && !ring->entries)
		n = 2;
	if (i + n > end)
		return 0;
	record = vec_push(records);
	*ret_oom = !record;
	if (!record)
		return n;
	*record = (struct trace_record){ .tid = ring->tid, .cpu = -1 };
	record->id = id & ~USPL_TRACE_ID_LONG;
	record->start = slot->call.start;
	if (ring->entries) {
		record->id = slot->entry.id & USPL_TRACE_ENTRY_IDS;
		record->caller = slot->entry.caller;
		record->cpu = (int32_t)(slot->entry.id >> USPL_TRACE_CPU_SHIFT) - 1;
		/* Not registered yet, or in vain. */
		if (record->cpu > USPL_TRACE_CPU_MAX)
			record->cpu = -1;
	} else {
		record->end = n == 2 ? slot[1].call.start : slot->call.start + slot->call.duration;
	}
	record->cut = !ring->entries && record->start < ring->oldest;
	if (n != 2 || slot[1].call.duration != USPL_TRACE_LEFT)
		return n;
	/*
	 * A call that was left is found by the next call at its place on the stack. That may be a
	 * call of another thread, which has got the stack and the ring of one that has ended.
	 */
	record->how = TRACE_LEFT;
	if (record->start < ring->taken_over) {
		record->tid = ring->tid_before;
		if (record->end > ring->taken_over)
			record->end = ring->taken_over;
	}
	return n;
}

static int take_all(struct trace_ring *ring, const struct window *window, const struct doubt *doubt,
		    uint64_t first, pid_t now, trace_records *records, struct uspl_err *err)
{
	uint64_t end = ring->last ? window->end : sure_end(ring, window, doubt), i = first;
	bool oom = false, gap = first > ring->pos / USPL_TRACE_RECORD;

	/* When the first record behind a gap was written. */
	if (gap) {
		while (i < end && window->slots[i - window->first].call.id == USPL_MARK_MORE)
			i++;
		ring->oldest = i < end ? written_at(ring, window, i) : 0;
	}
	/*
	 * The thread whose records begin there: the thread that has the ring now, unless a later
	 * record says that it got the ring only there. Then it isn't known.
	 */
	if (gap || !ring->tid) {
		ring->tid = now;
		for (i = first; i < end; i++)
			if (window->slots[i - window->first].call.id == USPL_TRACE_ID_THREAD)
				ring->tid = 0;
	}
	i = first;
	while (i < end && !oom) {
		bool doubtful = ring->last && is_doubtful(ring, window, doubt, i);
		uint64_t n = doubtful ? 0 : take(ring, window, i, end, records, &oom);

		if (!n && !ring->last)
			break;
		if (!n) {
			uint32_t id = window->slots[i - window->first].call.id;

			/* The second half of a record is counted with its first one. */
			ring->unsure +=
				id != USPL_MARK_MORE && (id != USPL_TRACE_ID_LONG || ring->entries);
			n = 1;
		}
		i += n;
	}
	ring->pos = i * USPL_TRACE_RECORD;
	return oom ? uspl_fail_nomem(err) : 0;
}

static void release(struct window *window)
{
	free(window->slots);
}

DEFINE_AUTO_RELEASE(window, struct window, release)
#define auto_window __attribute__((cleanup(cleanup_window_)))

int ring_read(const struct proc *proc, struct trace_ring *ring, trace_records *records,
	      struct uspl_err *err)
{
	uint64_t all = (ring->mask + 1) / USPL_TRACE_RECORD, from = ring->pos / USPL_TRACE_RECORD;
	struct uspl_trace_ring before, after;
	auto_window struct window window = { 0 }, oldest = { 0 };
	struct doubt doubt;
	uint64_t gone, first;
	int rc = read_header(proc, ring, &before, err);

	if (rc)
		return rc;
	ring->unseen = before.unseen;
	window.end = before.pos / USPL_TRACE_RECORD;
	if (window.end <= from)
		return 0;
	/* The oldest record of the round, whatever was read of it, tells stale ones. */
	oldest.round = oldest.first = window.round = window.end > all ? window.end - all : 0;
	oldest.end = window.end - oldest.first > UNSURE ? oldest.first + UNSURE : window.end;
	rc = copy(proc, ring, &oldest, err);
	if (rc)
		return rc;
	doubt = doubt_of(ring, &oldest, window.end);
	window.first = from > window.round ? from : window.round;
	rc = copy(proc, ring, &window, err);
	if (rc)
		return rc;
	rc = read_header(proc, ring, &after, err);
	if (rc)
		return rc;
	gone = after.pos / USPL_TRACE_RECORD > all ? after.pos / USPL_TRACE_RECORD - all : 0;
	first = gone > from ? gone : from;
	if (first > window.end)
		first = window.end;
	if (first < window.first)
		first = window.first;
	ring->overwritten += first - from;
	return take_all(ring, &window, &doubt, first, (pid_t)before.tid, records, err);
}
