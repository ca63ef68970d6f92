// SPDX-License-Identifier: GPL-3.0-or-later
// perf_note.c - the kernel's notes taken apart, by the layout of perf_event_open(2)

#include <string.h>

#include "perf/perf.h"

/* A note while it is taken apart: what is left of it. */
struct rest {
	const uint8_t *at;
	size_t len;
	bool bad; /* it was shorter than it says */
};

static const void *take(struct rest *rest, size_t len)
{
	const uint8_t *at = rest->at;

	if (rest->bad || len > rest->len) {
		rest->bad = true;
		return NULL;
	}
	rest->at += len;
	rest->len -= len;
	return at;
}

static uint64_t take64(struct rest *rest)
{
	const void *at = take(rest, sizeof(uint64_t));
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t take32(struct rest *rest)
{
	const void *at = take(rest, sizeof(uint32_t));
	uint32_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

static const struct perf_event *find_event(const struct perf *perf, uint64_t id)
{
	size_t i = vec_lower_bound(&perf->events, it, it->id < id);

	return i < perf->events.n && perf->events.items[i].id == id ? &perf->events.items[i] : NULL;
}

static void take_who(struct rest *rest, struct perf_note *note)
{
	note->pid = (pid_t)take32(rest);
	note->tid = (pid_t)take32(rest);
	note->time = take64(rest);
}

static void take_regs(struct rest *rest, uint64_t mask, struct perf_note *note)
{
	const void *values;

	if (take64(rest) == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	values = take(rest, (size_t)__builtin_popcountll(mask) * sizeof(uint64_t));
	if (!values)
		return;
	regs_from_perf(values, mask, &note->regs);
	note->has_regs = true;
}

static void take_stack(struct rest *rest, struct perf_note *note)
{
	uint64_t size = take64(rest), filled;
	const uint8_t *stack = size <= rest->len ? take(rest, size) : NULL;

	if (!stack)
		return;
	filled = take64(rest);
	note->stack = stack;
	note->stack_len = filled < size ? filled : size;
}

static bool take_sample(const struct perf *perf, struct rest *rest, struct perf_note *note,
			const struct perf_event **ret_event)
{
	const struct perf_event *event = find_event(perf, take64(rest));
	const struct perf_event_attr *kind;

	if (!event)
		return false;
	*ret_event = event;
	kind = &perf->kinds[event->kind].attr;
	take_who(rest, note);
	if (kind->sample_type & PERF_SAMPLE_ADDR)
		note->addr = take64(rest);
	note->cpu = take32(rest);
	take32(rest);
	if (kind->sample_type & PERF_SAMPLE_RAW) {
		note->raw_len = take32(rest);
		note->raw = take(rest, note->raw_len);
	}
	if (kind->sample_type & PERF_SAMPLE_REGS_USER)
		take_regs(rest, kind->sample_regs_user, note);
	if (kind->sample_type & PERF_SAMPLE_STACK_USER)
		take_stack(rest, note);
	return !rest->bad;
}

/*
 * Whose event tells of a thread: its own, or the one of its maker that it inherited. Of a thread
 * that has both (it was made while we opened) the first one that tells something counts; the other
 * one tells the same again. A source that has been silent for a second gives way: the thread's id
 * may have come to another thread.
 */
struct perf_source {
	pid_t tid, source; /* tid 0: the slot is free */
	uint64_t time;     /* of the last note */
};

#define SILENT_NS 1000000000ull

static struct perf_source *source_slot(const struct perf *perf, pid_t tid)
{
	size_t i = (uint32_t)tid * 2654435761u & (perf->cap_sources - 1);

	while (perf->sources[i].tid && perf->sources[i].tid != tid)
		i = (i + 1) & (perf->cap_sources - 1);
	return &perf->sources[i];
}

/* At most half of the slots are used. */
static bool grow_sources(struct perf *perf)
{
	struct perf grown = { .cap_sources = perf->cap_sources ? 2 * perf->cap_sources : 64 };

	if (2 * perf->n_sources < perf->cap_sources)
		return true;
	grown.sources = calloc(grown.cap_sources, sizeof(*grown.sources));
	if (!grown.sources)
		return false;
	for (size_t i = 0; i < perf->cap_sources; i++)
		if (perf->sources[i].tid)
			*source_slot(&grown, perf->sources[i].tid) = perf->sources[i];
	free(perf->sources);
	perf->sources = grown.sources;
	perf->cap_sources = grown.cap_sources;
	return true;
}

/* False for a note that tells what another one tells, too. */
static bool counts(struct perf *perf, const struct perf_event *event, const struct perf_note *note)
{
	struct perf_source *source;

	/* No other event tells the same. */
	if (perf->kinds[event->kind].everybody)
		return true;
	/* A thread that has just ended has no id any more. */
	if (note->tid <= 0 || !grow_sources(perf))
		return note->tid > 0;
	source = source_slot(perf, note->tid);
	perf->n_sources += !source->tid;
	if (source->tid && source->source != event->tid && note->time < source->time + SILENT_NS)
		return false;
	*source = (struct perf_source){ note->tid, event->tid, note->time };
	return true;
}

struct reading {
	struct perf *perf;
	int (*visit)(void *ctx, const struct perf_note *note);
	void *ctx;
};

static int visit_note(void *ctx, const struct perf_event_header *header)
{
	const struct reading *reading = ctx;
	struct rest rest = { (const uint8_t *)(header + 1), header->size - sizeof(*header), false };
	struct perf_note note = { .type = header->type, .misc = header->misc };
	const struct perf_event *event = NULL;
	const size_t trailer = 4 * sizeof(uint64_t);

	if (header->type == PERF_RECORD_LOST) {
		take64(&rest);
		reading->perf->lost += take64(&rest);
		return 0;
	}
	if (header->type == PERF_RECORD_SAMPLE) {
		if (!take_sample(reading->perf, &rest, &note, &event))
			return 0;
	} else {
		/* All others end with thread, time, processor, identifier (sample_id_all). */
		if (rest.len < trailer)
			return 0;
		take(&rest, rest.len - trailer);
		take_who(&rest, &note);
		note.cpu = take32(&rest);
		take32(&rest);
		event = find_event(reading->perf, take64(&rest));
		if (!event)
			return 0;
	}
	/*
	 * The kernel lets processes inherit though only threads should (perf.c). A process that is
	 * just ending has no pid any more: -1.
	 */
	if (!reading->perf->kinds[event->kind].everybody && note.pid > 0 &&
	    note.pid != reading->perf->pid)
		return 0;
	if (!counts(reading->perf, event, &note))
		return 0;
	note.kind = event->kind;
	return reading->visit(reading->ctx, &note);
}

int perf_read(struct perf *perf, int (*visit)(void *ctx, const struct perf_note *note), void *ctx)
{
	struct reading reading = { perf, visit, ctx };
	struct perf_ring *ring;
	int rc = 0;

	vec_for_each (&perf->rings, ring) {
		rc = perf_ring_read(ring, visit_note, &reading);
		if (rc)
			return rc;
	}
	return 0;
}
