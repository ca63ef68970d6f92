// SPDX-License-Identifier: GPL-3.0-or-later
// open_calls.c - calls that haven't returned, as the shadow stacks have them
/*
 * A slot of the shadow has a time from a call to its return. Three things tell a call that is open
 * from one that was left by a longjmp or an exception, whose slot no call has used since:
 *
 *   the word    on the stack is the return address into its thunk, as long as no call has come that
 *               far down again
 *   the place   the thread's stack pointer is below it. The kernel tells where that is for a thread
 *               that sleeps or stands at its end
 *   the time    of the calls of one thread the inner ones have begun later
 *
 * The place and the time are looked at for stacks of threads only: others, which a program makes
 * for itself, may be several in one mapping, and which thread uses them isn't known.
 */

#include "trace/log/open_calls.h"

#include <stdlib.h>
#include <string.h>

#include "proc/resident.h"
#include "proc/task.h"
#include "thread/blocked_place.h"

#define READ_MAX (1ull << 28) /* bytes of shadows */

/* A thread that the runtime has met. */
struct met {
	taddr tcb;
	pid_t tid; /* as the target knows it */
	bool lives;
	taddr sp; /* 0: not known */
};

/* A thread that lives. */
struct life {
	pid_t tid;
	taddr sp;
};

struct reading {
	struct proc *proc;
	const struct trace_session *session;
	const struct uspl_trace_region *head;
	mapping_vec shadows; /* by address; `offset` is the chunk of stack */
	kept_calls kept;
	VEC(struct life) lives;
	VEC(struct met) threads;
	pid_t main;
};

static void release(struct reading *reading)
{
	vec_release(&reading->shadows);
	vec_release(&reading->kept);
	vec_release(&reading->lives);
	vec_release(&reading->threads);
}

DEFINE_AUTO_RELEASE(reading, struct reading, release)
#define auto_reading __attribute__((cleanup(cleanup_reading_)))

static int by_start(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* The shadows of the chunks of stacks that have one. */
static int find_shadows(struct reading *reading, struct uspl_err *err)
{
	auto_free uint64_t *table = calloc(USPL_TRACE_CHUNKS, sizeof(*table));
	const size_t len = USPL_TRACE_CHUNKS * sizeof(*table);
	const taddr at = reading->head->tables + USPL_TRACE_THREADS * TT_SIZE;
	int rc = table ? proc_read(reading->proc, at, table, len, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	for (size_t i = 0; i < USPL_TRACE_CHUNKS; i++) {
		struct mapping *shadow;

		if (!table[i] || table[i] % USPL_TRACE_CHUNK)
			continue;
		shadow = vec_push(&reading->shadows);
		if (!shadow)
			return uspl_fail_nomem(err);
		*shadow = (struct mapping){ .start = USPL_TRACE_SHADOW(table[i]) ^
						     reading->head->shadow,
					    .read = true,
					    .write = true,
					    .offset = table[i] };
		shadow->end = shadow->start + 2 * USPL_TRACE_CHUNK;
	}
	if (reading->shadows.n)
		qsort(reading->shadows.items, reading->shadows.n, sizeof(*reading->shadows.items),
		      by_start);
	return 0;
}

uint32_t open_calls_id(const struct trace_session *session, uint64_t name)
{
	const taddr thunk = ~name - USPL_TRACE_NAME_AT;
	const struct trace_region *region;

	vec_for_each (&session->regions, region) {
		const struct uspl_trace_region *head = &region->head;
		uint64_t off = thunk - head->thunks;

		if (thunk >= head->thunks && off < head->thunks_len && !(off % USPL_TRACE_THUNK))
			return head->first_id + (uint32_t)(off / USPL_TRACE_THUNK);
	}
	return 0;
}

/* A slot that was written meanwhile, or isn't ours, is left out. */
static int keep(struct reading *reading, taddr at, taddr slot, uint64_t start, struct uspl_err *err)
{
	const struct proc *proc = reading->proc;
	struct kept_call *kept;
	uint64_t name, word;
	taddr thunk;
	uint32_t id;

	if (proc_read_some(proc, USPL_TRACE_NAME(slot), &name, sizeof(name)) != sizeof(name))
		return 0;
	thunk = ~name - USPL_TRACE_NAME_AT;
	id = open_calls_id(reading->session, name);
	if (!id || reading->kept.n == OPEN_CALLS_MAX)
		return 0;
	kept = vec_push(&reading->kept);
	if (!kept)
		return uspl_fail_nomem(err);
	*kept = (struct kept_call){ .at = at, .start = start, .id = id };
	kept->has_word = proc_read_some(proc, at, &word, sizeof(word)) == sizeof(word) &&
			 word == thunk + USPL_TRACE_THUNK_RETURN;
	return 0;
}

static int find_kept(struct reading *reading, struct uspl_err *err)
{
	auto_resident struct resident walk = { .proc = reading->proc,
					       .maps = &reading->shadows,
					       .budget = READ_MAX };
	int rc = resident_open(&walk, err);

	if (rc)
		return rc;
	while (resident_next(&walk)) {
		for (size_t i = 0; i + 1 < walk.n; i += 2) {
			taddr slot = walk.at + i * sizeof(*walk.words);
			taddr at = walk.mapping->offset + (slot - walk.mapping->start) / 2;

			if (!walk.words[i + 1])
				continue;
			rc = keep(reading, at, slot, walk.words[i + 1], err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* The threads that live. */
static int list_lives(struct reading *reading, struct uspl_err *err)
{
	auto_vec tid_vec tids = { 0 };
	const pid_t *tid;
	int rc = tasks_list(reading->proc, &tids, err);

	if (rc)
		return rc;
	reading->main = task_inner_id(reading->proc, reading->proc->pid);
	vec_for_each (&tids, tid) {
		struct life *life = vec_push(&reading->lives);
		struct blocked_place place;

		if (!life)
			return uspl_fail_nomem(err);
		*life = (struct life){ .tid = task_inner_id(reading->proc, *tid) };
		if (blocked_place_read(reading->proc, *tid, &place))
			life->sp = place.sp;
	}
	return 0;
}

static int find_threads(struct reading *reading, struct uspl_err *err)
{
	const size_t len = USPL_TRACE_THREADS * sizeof(struct uspl_trace_thread);
	auto_free struct uspl_trace_thread *table = malloc(len);
	int rc = table ? proc_read(reading->proc, reading->head->tables, table, len, err)
		       : uspl_fail_nomem(err);

	if (rc)
		return rc;
	rc = list_lives(reading, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < USPL_TRACE_THREADS; i++) {
		struct uspl_trace_ring ring;
		const struct life *life;
		struct met *met;

		if (!table[i].thread || !table[i].ring ||
		    proc_read_some(reading->proc, table[i].ring, &ring, sizeof(ring)) !=
			    sizeof(ring))
			continue;
		met = vec_push(&reading->threads);
		if (!met)
			return uspl_fail_nomem(err);
		*met = (struct met){ .tcb = table[i].thread, .tid = (pid_t)ring.tid };
		vec_for_each (&reading->lives, life)
			if (life->tid == met->tid) {
				met->lives = true;
				met->sp = life->sp;
				break;
			}
	}
	return 0;
}

/*
 * The thread whose stack the mapping is: the main thread's is known by its name, another one has
 * the thread's control block at its upper end.
 */
static const struct met *owner_of(const struct reading *reading, const struct mapping *stack)
{
	bool is_main = stack && !strcmp(stack->path, "[stack]");
	const struct met *met;

	vec_for_each (&reading->threads, met)
		if (stack && (is_main ? met->tid == reading->main
				      : met->tcb >= stack->start && met->tcb < stack->end))
			return met;
	return NULL;
}

static int from_above(const void *a, const void *b)
{
	const struct kept_call *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->at > y->at ? -1 : x->at < y->at;
}

static int by_time(const void *a, const void *b)
{
	const struct kept_call *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void open_calls_strike(kept_calls *calls, const trace_records *records)
{
	const struct trace_record *record;

	qsort(calls->items, calls->n, sizeof(*calls->items), by_time);
	vec_for_each (records, record) {
		size_t i = vec_lower_bound(calls, it, it->start < record->start);
		struct kept_call *call = &calls->items[i];

		for (; i < calls->n && call->start == record->start; i++, call++)
			call->recorded |= call->id == record->id;
	}
	qsort(calls->items, calls->n, sizeof(*calls->items), from_above);
}

int open_call_add(const struct kept_call *call, pid_t tid, uint64_t now, bool open,
		  trace_records *records, struct uspl_err *err)
{
	struct trace_record *record = vec_push(records);

	if (!record)
		return uspl_fail_nomem(err);
	*record = (struct trace_record){ .start = call->start,
					 .end = now,
					 .id = call->id,
					 .tid = tid,
					 .cpu = -1,
					 .how = open ? TRACE_OPEN : TRACE_LEFT };
	return 0;
}

/* kept: from above. `since` is when the innermost open call above it on its stack has begun. */
static bool is_open(const struct kept_call *kept, const struct met *met,
		    const struct mapping *stack, uint64_t since)
{
	if (!kept->has_word || !met)
		return kept->has_word;
	if (met->sp > kept->at && met->sp >= stack->start && met->sp < stack->end)
		return false;
	return met->lives && kept->start >= since;
}

static int add_all(const struct reading *reading, uint64_t now, trace_records *records,
		   struct uspl_err *err)
{
	const struct mapping *stack = NULL;
	const struct kept_call *kept;
	uint64_t since = 0;

	vec_for_each (&reading->kept, kept) {
		const struct mapping *here = mappings_at(&reading->proc->maps, kept->at);
		const struct met *met = owner_of(reading, here);
		bool open;
		int rc;

		if (here != stack)
			since = 0;
		stack = here;
		open = is_open(kept, met, here, since);
		if (open && met)
			since = kept->start;
		if (kept->start > now || kept->recorded)
			continue;
		rc = open_call_add(kept, met ? met->tid : 0, now, open, records, err);
		if (rc)
			return rc;
	}
	return 0;
}

int open_calls_read(struct proc *proc, const struct trace_session *session, uint64_t now,
		    trace_records *records, struct uspl_err *err)
{
	auto_reading struct reading reading = { .proc = proc, .session = session };
	int rc;

	if (!session->regions.n || session->regions.items[0].head.entries)
		return 0;
	reading.head = &session->regions.items[0].head;
	rc = find_shadows(&reading, err);
	if (rc)
		return rc;
	rc = find_kept(&reading, err);
	if (rc)
		return rc;
	if (reading.kept.n) {
		open_calls_strike(&reading.kept, records);
		rc = find_threads(&reading, err);
		if (rc)
			return rc;
		rc = proc_refresh_maps(proc, err);
		if (rc)
			return rc;
	}
	return add_all(&reading, now, records, err);
}
