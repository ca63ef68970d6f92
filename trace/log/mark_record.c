// SPDX-License-Identifier: GPL-3.0-or-later
// mark_record.c - what probes of markers have written into a session's rings
/*
 * A record's slots are taken by one instruction, so they are together. Its id is written last: with
 * it, the record is whole. A slot that was taken and isn't written yet holds 0 in the first round
 * of the ring; in later rounds, for an instant, what was there a round ago, whose time is not above
 * that of the oldest record of this round. After a gap the reading may begin in the middle of a
 * record: the sign of the slots behind a first one (USPL_MARK_MORE) says so.
 */

#include "trace/log/mark_record.h"

#include <string.h>

#include "trace/log/ring.h"

/* A copy of a ring's slots [first, end). */
struct window {
	union mark_slot *slots;
	uint64_t first, end;
	/*
	 * The oldest record and its time: what isn't younger is of an earlier round. 0: there is
	 * none.
	 */
	uint64_t oldest_at, oldest;
	pid_t tid; /* the thread that has the ring now */
};

int mark_reader_open(struct mark_reader *reader, struct proc *proc, const char *session,
		     struct uspl_err *err)
{
	const struct mark_region *region;
	int rc;

	*reader = (struct mark_reader){ .proc = proc };
	snprintf(reader->session, sizeof(reader->session), "%s", session);
	rc = marks_read(proc, &reader->marks, err);
	if (rc)
		return rc;
	region = marks_session(&reader->marks, session);
	if (!region)
		return uspl_fail(err, USPL_E_NOT_APPLIED, "no marker of pid %d is on", proc->pid);
	reader->shared = region->head.shared;
	return 0;
}

void mark_reader_release(struct mark_reader *reader)
{
	marks_release(&reader->marks);
	vec_release(&reader->rings);
	vec_release(&reader->records);
	vec_release(&reader->slots);
}

static uint32_t id_at(const struct window *window, uint64_t i)
{
	return window->slots[i - window->first].first.id;
}

/* Where the first whole record at or behind i begins. */
static uint64_t skip_rest(const struct window *window, uint64_t i)
{
	while (i < window->end && id_at(window, i) == USPL_MARK_MORE)
		i++;
	return i;
}

static int keep(struct mark_reader *reader, const struct window *window, uint64_t i,
		const struct mark_record *record, struct uspl_err *err)
{
	struct mark_record *place = vec_push(&reader->records);

	if (!place)
		return uspl_fail_nomem(err);
	*place = *record;
	place->at = (uint32_t)reader->slots.n;
	for (uint16_t k = 0; k < record->probe->slots; k++) {
		union mark_slot *slot = vec_push(&reader->slots);

		if (!slot)
			return uspl_fail_nomem(err);
		*slot = window->slots[i + k - window->first];
	}
	return 0;
}

/* Takes the records from i on; *ret_next is where the next reading begins. */
static int take(struct mark_reader *reader, struct mark_ring *ring, const struct window *window,
		uint64_t i, uint64_t *ret_next, struct uspl_err *err)
{
	int rc = 0;

	while (i < window->end) {
		const struct uspl_trace_entry *slot = &window->slots[i - window->first].first;
		struct mark_record record = { .time = slot->start, .tid = ring->tid };

		if (!slot->id || (i > window->oldest_at && slot->start <= window->oldest))
			break;
		if (slot->id == USPL_TRACE_ID_THREAD) {
			ring->tid = (pid_t)slot->caller;
			i++;
			continue;
		}
		record.probe =
			marks_probe(&reader->marks, reader->session, slot->id, &record.region);
		if (!record.probe) {
			reader->outdated = true;
			break;
		}
		if (i + record.probe->slots > window->end)
			break;
		rc = keep(reader, window, i, &record, err);
		i += record.probe->slots;
		ring->taken++;
		if (rc)
			break;
	}
	*ret_next = i;
	return rc;
}

static int read_window(struct mark_reader *reader, const struct mark_ring *ring,
		       struct window *window, uint64_t *ret_gone, struct uspl_err *err)
{
	const struct uspl_trace_region *shared = &reader->shared;
	uint64_t all = (shared->ring_mask + 1) / USPL_TRACE_RECORD, end;
	struct ring_part part = { ring->addr, shared->ring_mask, window->first, window->end };
	struct uspl_trace_ring after;
	int rc;

	window->slots = calloc(window->end - window->first + 1, sizeof(*window->slots));
	if (!window->slots)
		return uspl_fail_nomem(err);
	rc = ring_copy(reader->proc, &part, window->slots, err);
	if (rc)
		return rc;
	rc = proc_read(reader->proc, ring->addr, &after, sizeof(after), err);
	if (rc)
		return rc;
	end = after.pos / USPL_TRACE_RECORD;
	*ret_gone = end > all ? end - all : 0;
	return 0;
}

static void release(struct window *window)
{
	free(window->slots);
}

DEFINE_AUTO_RELEASE(window, struct window, release)
#define auto_window __attribute__((cleanup(cleanup_window_)))

static int read_ring(struct mark_reader *reader, struct mark_ring *ring, struct uspl_err *err)
{
	const struct uspl_trace_region *shared = &reader->shared;
	uint64_t all = (shared->ring_mask + 1) / USPL_TRACE_RECORD, gone = 0, from = ring->pos;
	struct uspl_trace_ring head;
	auto_window struct window window = { 0 };
	int rc = proc_read(reader->proc, ring->addr, &head, sizeof(head), err);

	window.end = head.pos / USPL_TRACE_RECORD;
	if (rc || window.end <= ring->pos)
		return rc;
	window.first = window.end > all ? window.end - all : 0;
	window.tid = (pid_t)head.tid;
	rc = read_window(reader, ring, &window, &gone, err);
	if (rc)
		return rc;
	window.oldest_at = skip_rest(&window, window.first);
	if (window.first && window.oldest_at < window.end)
		window.oldest = window.slots[window.oldest_at - window.first].first.start;
	if (gone > from)
		from = skip_rest(&window, gone > window.end ? window.end : gone);
	/* Behind a gap: the thread that has the ring, if none took it over later. */
	if (!ring->tid || from > ring->pos) {
		ring->tid = window.tid;
		for (uint64_t i = from; i < window.end; i++)
			if (id_at(&window, i) == USPL_TRACE_ID_THREAD)
				ring->tid = 0;
	}
	rc = take(reader, ring, &window, from, &ring->pos, err);
	/* Behind a gap all that were taken and not read are gone, but those that come next. */
	if (gone && ring->pos == window.end && head.records > ring->taken) {
		reader->overwritten += head.records - ring->taken;
		ring->taken = head.records;
	}
	return rc;
}

/* Rings that threads have taken since the last look. */
static int find_rings(struct mark_reader *reader, struct uspl_err *err)
{
	const struct uspl_trace_region *shared = &reader->shared;
	struct uspl_trace_counters counters;
	uint64_t n;
	int rc = proc_read(reader->proc, shared->counters, &counters, sizeof(counters), err);

	if (rc)
		return rc;
	n = counters.next_ring < shared->n_rings ? counters.next_ring : shared->n_rings;
	while (reader->rings.n < n) {
		struct mark_ring *ring = vec_push(&reader->rings);

		if (!ring)
			return uspl_fail_nomem(err);
		ring->addr = shared->rings + (reader->rings.n - 1) * shared->ring_bytes;
	}
	reader->nowhere = counters.nowhere;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct mark_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

int mark_reader_read(struct mark_reader *reader, struct uspl_err *err)
{
	struct marks marks = { 0 };
	bool outdated = reader->outdated;
	struct mark_ring *ring;
	int rc = find_rings(reader, err);

	reader->records.n = reader->slots.n = 0;
	reader->outdated = false;
	if (rc)
		return rc;
	if (outdated) {
		/* Takes in what newer commands have switched on. */
		rc = proc_refresh_maps(reader->proc, err);
		if (rc)
			return rc;
		rc = marks_read(reader->proc, &marks, err);
		if (rc)
			return rc;
		marks_release(&reader->marks);
		reader->marks = marks;
	}
	vec_for_each (&reader->rings, ring) {
		rc = read_ring(reader, ring, err);
		if (rc)
			return rc;
	}
	if (reader->records.n)
		qsort(reader->records.items, reader->records.n, sizeof(*reader->records.items),
		      by_time);
	reader->cuts = marks_cuts(reader->proc, &reader->marks, reader->session);
	return 0;
}

static void read_value(const union mark_slot *slots, const struct uspl_probe_arg *arg,
		       struct message_value *ret)
{
	const uint8_t *at = slots[arg->slot].bytes + arg->offset;
	int32_t small;
	float single;

	if (arg->width == 8) {
		memcpy(&ret->word, at, sizeof(ret->word));
		memcpy(&ret->real, at, sizeof(ret->real));
		return;
	}
	memcpy(&small, at, sizeof(small));
	memcpy(&single, at, sizeof(single));
	ret->word = arg->kind == USPL_PROBE_SIGNED ? (uint64_t)(int64_t)small : (uint32_t)small;
	ret->real = (double)single;
}

int mark_values(const struct mark_reader *reader, const struct mark_record *record,
		struct message_value ret[USPL_PROBE_ARGS_MAX], struct uspl_err *err)
{
	const union mark_slot *slots = reader->slots.items + record->at;

	memset(ret, 0, USPL_PROBE_ARGS_MAX * sizeof(*ret));
	for (size_t i = 0; i < record->probe->n_args; i++) {
		const struct uspl_probe_arg *arg = &record->probe->args[i];

		ret[i].kind = (enum uspl_probe_arg_kind)arg->kind;
		if (arg->kind == USPL_PROBE_TEXT) {
			auto_buf struct buf text = { 0 };

			for (uint16_t k = 0; k < arg->slots; k++)
				buf_add(&text, slots[arg->slot + k].bytes, USPL_MARK_SLOT_ROOM);
			buf_add(&text, "", 1);
			if (text.oom)
				return uspl_fail_nomem(err);
			ret[i].text = buf_take(&text);
		} else {
			read_value(slots, arg, &ret[i]);
		}
	}
	return 0;
}

void mark_values_release(struct message_value values[USPL_PROBE_ARGS_MAX])
{
	for (size_t i = 0; i < USPL_PROBE_ARGS_MAX; i++)
		free(values[i].text);
}

bool mark_cuts_add(const struct uspl_mark_cuts *cuts, struct buf *out)
{
	if (!cuts->runs && !cuts->passed)
		return false;
	buf_addf(out, "the program was cut short at %llu hits, and not called at %llu later ones",
		 (unsigned long long)cuts->runs, (unsigned long long)cuts->passed);
	return true;
}
