// SPDX-License-Identifier: GPL-3.0-or-later
// call_sums.c - what the threads of a process have added up of its functions' calls
/*
 * The tables are read first, then the calls that are open: a call that returns in between is in
 * neither, and none is in both. A process that stands still is read exactly.
 */

#include "trace/tally/call_sums.h"

#include <stdlib.h>
#include <string.h>

#include "proc/resident.h"
#include "proc/task.h"
#include "thread/blocked_place.h"
#include "trace/engine/clocks.h"
#include "trace/engine/sums.h"

#define READ_MAX (8ull << 30) /* bytes of tables */
#define OPEN_MAX (1u << 20)   /* open calls of a thread: the process may have written anything */

void call_sums_release(struct call_sums *sums)
{
	vec_release(&sums->rows);
	vec_release(&sums->threads);
}

/* What is read, and where. */
struct reading {
	const struct tally *tally;
	const struct uspl_trace_region *head;
	struct call_sums *sums;
	uint64_t cell_len, table_len;
	uint32_t last_id;
	mapping_vec tables; /* one for each thread */
};

static int find_tables(struct reading *reading, struct uspl_err *err)
{
	const struct tally *tally = reading->tally;
	const struct uspl_trace_region *head = reading->head;

	for (size_t i = 0; i < tally->n_threads; i++) {
		struct uspl_trace_ring ring;
		struct call_thread *thread = vec_push(&reading->sums->threads);
		struct mapping *table = vec_push(&reading->tables);
		int rc;

		if (!thread || !table)
			return uspl_fail_nomem(err);
		rc = proc_read(tally->view.proc, head->rings + i * head->ring_bytes, &ring,
			       sizeof(ring), err);
		if (rc)
			return rc;
		*thread = (struct call_thread){ .tid = (pid_t)ring.tid, .earlier = ring.earlier };
		reading->sums->lost += ring.unseen;
		*table = (struct mapping){ .start = tally->own + i * reading->table_len,
					   .read = true,
					   .write = true };
		table->end = table->start + reading->table_len;
	}
	return 0;
}

/* One word of a table. */
static int take_word(struct reading *reading, taddr at, uint64_t word, struct uspl_err *err)
{
	uint64_t off = at - reading->tally->own;
	uint32_t thread = (uint32_t)(off / reading->table_len);
	uint64_t in_table = off % reading->table_len, in_cell = in_table % reading->cell_len;
	uint64_t id = in_table / reading->cell_len;
	struct call_sums *sums = reading->sums;
	struct call_sum *row;

	if (!word || !id || id > reading->last_id)
		return 0;
	/* Rows come in their order. */
	row = sums->rows.n ? &sums->rows.items[sums->rows.n - 1] : NULL;
	if (!row || row->thread != thread || row->id != id) {
		row = vec_push(&sums->rows);
		if (!row)
			return uspl_fail_nomem(err);
		*row = (struct call_sum){ .id = (uint32_t)id, .thread = thread };
	}
	if (reading->cell_len == sizeof(word))
		row->calls = word;
	else
		memcpy((uint8_t *)&row->cell + in_cell, &word, sizeof(word));
	return 0;
}

static int read_tables(struct reading *reading, struct uspl_err *err)
{
	auto_resident struct resident walk = { .proc = reading->tally->view.proc,
					       .maps = &reading->tables,
					       .budget = READ_MAX };
	struct call_sum *row;
	int rc = resident_open(&walk, err);

	if (rc)
		return rc;
	while (resident_next(&walk))
		for (size_t i = 0; i < walk.n; i++) {
			rc = take_word(reading, walk.at + i * sizeof(*walk.words), walk.words[i],
				       err);
			if (rc)
				return rc;
		}
	reading->sums->left_out = walk.left_out;
	if (reading->cell_len == sizeof(uint64_t))
		return 0;
	vec_for_each (&reading->sums->rows, row) {
		row->calls = row->cell.untimed;
		for (size_t i = 0; i < USPL_SUMS_BUCKETS; i++)
			row->calls += row->cell.buckets[i];
	}
	return 0;
}

/* The row, which may be anywhere; it is put in its place if there is none. */
static struct call_sum *find_row(struct call_sums *sums, uint32_t thread, uint32_t id)
{
	size_t i = vec_lower_bound(&sums->rows, it,
				   it->thread < thread || (it->thread == thread && it->id < id));
	struct call_sum *row = sums->rows.items + i;

	if (i < sums->rows.n && row->thread == thread && row->id == id)
		return row;
	if (!vec_push(&sums->rows))
		return NULL;
	row = sums->rows.items + i;
	memmove(row + 1, row, (sums->rows.n - 1 - i) * sizeof(*row));
	*row = (struct call_sum){ .id = id, .thread = thread };
	return row;
}

void call_sums_add_left(struct call_sum *sum, uint64_t took, double ns_per_tick)
{
	double ns = (double)took * ns_per_tick;
	size_t bucket = 0;

	while (bucket < USPL_SUMS_BUCKETS - 1 &&
	       ns >= (double)(1ull << (USPL_SUMS_FIRST_LOG + bucket)))
		bucket++;
	sum->calls++;
	sum->cell.left++;
	sum->cell.sum += took;
	sum->cell.buckets[bucket]++;
	if (took > sum->cell.max)
		sum->cell.max = took;
}

/* A thread's open calls, from the innermost on. */
struct open_walk {
	const struct reading *reading;
	uint32_t thread;
	bool lives;
	taddr sp; /* 0: not known */
	const struct mapping *stack;
	uint64_t now;
	VEC(struct open_call) calls;
};

static int read_list(struct open_walk *walk, uint64_t top, struct uspl_err *err)
{
	const struct proc *proc = walk->reading->tally->view.proc;
	const struct mapping *stack = walk->stack;
	uint64_t around;

	for (uint64_t word = top; !uspl_sums_is_none(word) && walk->calls.n < OPEN_MAX;
	     word = around) {
		taddr at = uspl_sums_at(word),
		      slot = USPL_TRACE_SHADOW(at) ^ walk->reading->head->shadow;
		uint32_t id = uspl_sums_id(word);
		struct open_call *call;
		uint64_t kept[2];

		if (proc_read_some(proc, slot, kept, sizeof(kept)) != sizeof(kept) ||
		    proc_read_some(proc, USPL_TRACE_NAME(slot), &around, sizeof(around)) !=
			    sizeof(around) ||
		    kept[1] >> USPL_SUMS_PASSED_BIT || uspl_sums_at(around) <= at || !id ||
		    id > walk->reading->last_id)
			return 0;
		if (!kept[1] || kept[1] > walk->now)
			continue;
		call = vec_push(&walk->calls);
		if (!call)
			return uspl_fail_nomem(err);
		*call = (struct open_call){ .id = id,
					    .back = kept[0],
					    .took = walk->now - kept[1],
					    .left = !walk->lives ||
						    (stack && at < walk->sp && at >= stack->start &&
						     at < stack->end) };
	}
	return 0;
}

static int add_list(const struct open_walk *walk, void *ctx, struct uspl_err *err)
{
	const struct reading *reading = walk->reading;
	auto_free uint8_t *seen = calloc(reading->last_id + 1ull, 1);

	(void)ctx;
	if (!seen)
		return uspl_fail_nomem(err);
	/* From the outermost on: recursion counts once. */
	for (size_t i = walk->calls.n; i-- > 0;) {
		const struct open_call *call = &walk->calls.items[i];
		struct call_sum *row;

		row = find_row(reading->sums, walk->thread, call->id);
		if (!row)
			return uspl_fail_nomem(err);
		if (call->left && walk->lives) {
			call_sums_add_left(row, call->took, reading->tally->ns_per_tick);
			row->cell.nested += seen[call->id] ? call->took : 0;
		} else if (call->left) {
			row->calls++;
			row->cell.left++;
			row->cell.untimed++;
		} else {
			row->open++;
			row->open_sum += call->took;
			row->open_total += seen[call->id] ? 0 : call->took;
		}
		seen[call->id] = 1;
		if (!call->left || !walk->lives || i + 1 == walk->calls.n)
			continue;
		/* What a call that was left took isn't the own time of the call around it. */
		row = find_row(reading->sums, walk->thread, call[1].id);
		if (!row)
			return uspl_fail_nomem(err);
		row->cell.children += call->took;
	}
	return 0;
}

/* Whether the thread with that id, as the target knows it, lives, and how far down it is. */
static void find_place(struct open_walk *walk, pid_t tid, const tid_vec *tids)
{
	struct proc *proc = walk->reading->tally->view.proc;
	const pid_t *outer;

	vec_for_each (tids, outer) {
		struct blocked_place place;

		if (task_inner_id(proc, *outer) != tid)
			continue;
		walk->lives = true;
		if (!blocked_place_read(proc, *outer, &place))
			return;
		walk->sp = place.sp;
		walk->stack = mappings_at(&proc->maps, place.sp);
		return;
	}
}

/* Each thread's list, as it is now. */
static int walk_lists(struct reading *reading,
		      int (*each)(const struct open_walk *walk, void *ctx, struct uspl_err *err),
		      void *ctx, struct uspl_err *err)
{
	const struct tally *tally = reading->tally;
	const size_t len = USPL_TRACE_THREADS * sizeof(struct uspl_trace_thread);
	auto_free struct uspl_trace_thread *table = malloc(len);
	auto_vec tid_vec tids = { 0 };
	struct trace_clocks now;
	int rc = table ? proc_read(tally->view.proc, reading->head->tables, table, len, err)
		       : uspl_fail_nomem(err);

	if (rc)
		return rc;
	clocks_read(&now);
	rc = tasks_list(tally->view.proc, &tids, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < USPL_TRACE_THREADS; i++) {
		/* The list may still be that of a thread which has ended. */
		taddr own = table[i].kept ? table[i].kept : table[i].sums;
		uint64_t number = (own - tally->own) / reading->table_len;
		struct open_walk walk = { .reading = reading,
					  .thread = (uint32_t)number,
					  .now = now.ticks };

		if (!table[i].thread || !own || number >= reading->sums->threads.n)
			continue;
		if (!table[i].kept)
			find_place(&walk, reading->sums->threads.items[number].tid, &tids);
		rc = read_list(&walk, table[i].top, err);
		if (!rc)
			rc = each(&walk, ctx, err);
		vec_release(&walk.calls);
		if (rc)
			return rc;
	}
	return 0;
}

static struct reading reading_of(const struct tally *tally, struct call_sums *sums)
{
	const struct trace_session *session = &tally->view.session;
	const struct trace_region *last = &session->regions.items[session->regions.n - 1];
	const struct uspl_trace_region *head = &session->regions.items[0].head;
	uint64_t cell_len =
		head->job == USPL_LISTEN_PROFILE ? sizeof(struct uspl_sums_cell) : sizeof(uint64_t);

	return (struct reading){ .tally = tally,
				 .head = head,
				 .sums = sums,
				 .cell_len = cell_len,
				 .table_len = sums_table_len(cell_len, session),
				 .last_id = last->head.first_id + last->head.n_sites - 1 };
}

int call_sums_read(const struct tally *tally, struct call_sums *ret, struct uspl_err *err)
{
	struct reading reading = reading_of(tally, ret);
	struct uspl_trace_counters counters;
	int rc = proc_read(tally->view.proc, reading.head->counters, &counters, sizeof(counters),
			   err);

	if (rc)
		return rc;
	ret->lost = counters.nowhere;
	if (tally->n_threads * reading.table_len > tally->config.head.own_len)
		return uspl_fail(err, USPL_E_HOSTILE, "what pid %d has added up is damaged",
				 tally->view.proc->pid);
	rc = find_tables(&reading, err);
	if (!rc)
		rc = read_tables(&reading, err);
	if (!rc && reading.cell_len == sizeof(struct uspl_sums_cell))
		rc = walk_lists(&reading, add_list, NULL, err);
	vec_release(&reading.tables);
	return rc;
}

/* What is called with each list. */
struct seeing {
	call_sums_see *see;
	void *ctx;
};

static int see_list(const struct open_walk *walk, void *ctx, struct uspl_err *err)
{
	const struct seeing *seeing = ctx;

	return seeing->see(seeing->ctx, walk->calls.items, walk->calls.n, err);
}

int call_sums_look(const struct tally *tally, const struct call_sums *sums, call_sums_see *see,
		   void *ctx, struct uspl_err *err)
{
	struct call_sums threads = { .threads = sums->threads };
	struct reading reading = reading_of(tally, &threads);

	return walk_lists(&reading, see_list, &(struct seeing){ see, ctx }, err);
}

static int by_id(const void *a, const void *b)
{
	const struct call_sum *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

void call_sums_merge(struct call_sums *sums)
{
	size_t n = 0;

	if (!sums->rows.n)
		return;
	qsort(sums->rows.items, sums->rows.n, sizeof(*sums->rows.items), by_id);
	for (size_t i = 1; i < sums->rows.n; i++) {
		const struct call_sum *from = &sums->rows.items[i];
		struct call_sum *to = &sums->rows.items[n];

		if (from->id != to->id) {
			sums->rows.items[++n] = *from;
			continue;
		}
		to->calls += from->calls;
		to->open += from->open;
		to->open_sum += from->open_sum;
		to->open_total += from->open_total;
		to->cell.sum += from->cell.sum;
		to->cell.nested += from->cell.nested;
		to->cell.children += from->cell.children;
		to->cell.left += from->cell.left;
		to->cell.untimed += from->cell.untimed;
		if (from->cell.max > to->cell.max)
			to->cell.max = from->cell.max;
		for (size_t k = 0; k < USPL_SUMS_BUCKETS; k++)
			to->cell.buckets[k] += from->cell.buckets[k];
	}
	sums->rows.n = n + 1;
}

uint64_t call_sums_total(const struct call_sum *sum)
{
	return sum->cell.sum - sum->cell.nested + sum->open_total;
}

uint64_t call_sums_self(const struct call_sum *sum)
{
	uint64_t all = sum->cell.sum + sum->open_sum;

	/* A running process is read while it goes on. */
	return all > sum->cell.children ? all - sum->cell.children : 0;
}

double call_sums_average(const struct call_sum *sum)
{
	uint64_t timed = sum->calls - sum->cell.untimed;

	return timed ? (double)sum->cell.sum / (double)timed : 0;
}
