// SPDX-License-Identifier: GPL-3.0-or-later
// record_test.c - rings are read while they are written

#include <pthread.h>
#include <unistd.h>

#include "tap.h"
#include "trace/log/ring.h"

#define PLACES 256

static struct {
	struct uspl_trace_ring head;
	struct uspl_trace_call calls[PLACES];
} ring;

_Static_assert(sizeof(ring.head) == USPL_TRACE_RING_HEADER, "as the runtime has it");

static struct proc *proc;

static struct trace_ring reader(void)
{
	return (struct trace_ring){ .addr = (uintptr_t)&ring,
				    .mask = PLACES * USPL_TRACE_RECORD - 1 };
}

static void drain(void)
{
	memset(&ring, 0, sizeof(ring));
	ring.head.tid = 7;
}

/* As the runtime does it: the place first, then the record, its id last. */
static uint64_t reserve(void)
{
	return __atomic_fetch_add(&ring.head.pos, USPL_TRACE_RECORD, __ATOMIC_SEQ_CST) /
	       USPL_TRACE_RECORD % PLACES;
}

static void write_call(uint64_t start, uint32_t duration, uint32_t id)
{
	volatile struct uspl_trace_call *call = &ring.calls[reserve()];

	call->id = 0;
	call->start = start;
	call->duration = duration;
	call->id = id;
}

static size_t read_all(struct trace_ring *from, trace_records *records)
{
	struct uspl_err err = { 0 };

	vec_release(records);
	if (ring_read(proc, from, records, &err))
		printf("# %s\n", err.msg);
	return records->n;
}

static void test_plain(void)
{
	struct trace_ring from = reader();
	trace_records records = { 0 };

	drain();
	ok(read_all(&from, &records) == 0, "an empty ring");
	for (uint32_t i = 0; i < 10; i++)
		write_call(100 * i + 100, 50, i + 1);
	ok(read_all(&from, &records) == 10 && records.items[9].id == 10 &&
		   records.items[9].start == 1000 && records.items[9].end == 1050 &&
		   records.items[0].tid == 7,
	   "ten records");
	ok(read_all(&from, &records) == 0, "are read once");
	write_call(2000, 1, 3);
	ok(read_all(&from, &records) == 1 && records.items[0].id == 3, "then what is new");
	vec_release(&records);
}

static void test_overwritten(void)
{
	struct trace_ring from = reader();
	trace_records records = { 0 };

	drain();
	for (uint32_t i = 0; i < 1000; i++)
		write_call(100 + i, 1, i + 1);
	ok(read_all(&from, &records) == PLACES && from.overwritten == 1000 - PLACES &&
		   records.items[0].id == 1000 - PLACES + 1,
	   "what was overwritten is counted, the rest is there");
	vec_release(&records);
}

/* A place that is taken and not written yet, in the first round and in a later one. */
static void test_unwritten(void)
{
	struct trace_ring from = reader();
	trace_records records = { 0 };
	uint64_t place;

	for (uint32_t round = 0; round < 3; round++) {
		drain();
		from = reader();
		for (uint32_t i = 0; i < 200 * round + 5; i++)
			write_call(100 + 10 * i, 5, i + 1);
		read_all(&from, &records);
		place = reserve();
		write_call(20000, 5, 90001);
		ok(read_all(&from, &records) == 0, "a record that isn't written stops the reader");
		ring.calls[place] = (struct uspl_trace_call){ 19000, 5, 90000 };
		ok(read_all(&from, &records) == 2 && records.items[0].id == 90000 &&
			   records.items[1].id == 90001,
		   "and is read when it is there");
	}
	vec_release(&records);
}

/*
 * Whoever doesn't read on leaves out, and counts, what isn't written, and what may be older than
 * the whole ring.
 */
static void test_last(void)
{
	struct trace_ring from = reader();
	trace_records records = { 0 };

	for (uint32_t round = 0; round < 2; round++) {
		drain();
		from = reader();
		for (uint32_t i = 0; i < PLACES * round + 5; i++)
			write_call(100 + 10 * i, 5, i + 1);
		read_all(&from, &records);
		reserve();
		write_call(20000, 5, 90001);
		write_call(1, 5, 90002);
		write_call(20010, 5, 90003);
		from.last = true;
		/* In the first round nothing that is written can be anything else. */
		ok(read_all(&from, &records) == 3 - round && from.unsure == 1 + round &&
			   records.items[0].id == 90001 && records.items[2 - round].id == 90003,
		   "the last reading goes on behind them: %zu read, %llu not", records.n,
		   (unsigned long long)from.unsure);
		ok(read_all(&from, &records) == 0 && from.unsure == 1 + round, "once");
	}
	vec_release(&records);
}

/* A record whose thread was interrupted while it wrote. */
static void test_partly_written(void)
{
	struct trace_ring from = reader();
	trace_records records = { 0 };
	uint64_t place;

	drain();
	for (uint32_t i = 0; i < 600; i++)
		write_call(100 + 10 * i, 5, i + 1);
	read_all(&from, &records);
	place = reserve();
	ring.calls[place].id = 0;
	ring.calls[place].start = 19000;
	ok(read_all(&from, &records) == 0, "a record without its id isn't read");
	ring.calls[place].duration = 5;
	ring.calls[place].id = 700;
	ok(read_all(&from, &records) == 1 && records.items[0].id == 700, "until it is whole");
	vec_release(&records);
}

static void test_long(void)
{
	struct trace_ring from = reader();
	trace_records records = { 0 };

	drain();
	/* So that the two halves lie at the ring's end and at its beginning. */
	for (uint32_t i = 0; i < PLACES - 1; i++)
		write_call(100 + i, 1, 5);
	read_all(&from, &records);
	write_call(5000, UINT32_MAX, 9 | USPL_TRACE_ID_LONG);
	write_call(5000 + (1ull << 40), 0, USPL_TRACE_ID_LONG);
	write_call((1ull << 40) + 6000, 2, 8);
	ok(read_all(&from, &records) == 2 && records.items[0].id == 9 &&
		   records.items[0].end == 5000 + (1ull << 40) && records.items[1].id == 8,
	   "a duration of more than 32 bits, around the ring's end");
	/* Of a call that began before all others in the ring, and is the last one to return. */
	write_call(1, UINT32_MAX, 9 | USPL_TRACE_ID_LONG);
	write_call((1ull << 40) + 7000, 0, USPL_TRACE_ID_LONG);
	ok(read_all(&from, &records) == 1 && records.items[0].start == 1 &&
		   records.items[0].end == (1ull << 40) + 7000,
	   "one as the last record of a later round");
	vec_release(&records);
}

static void test_threads(void)
{
	struct trace_ring from = reader();
	trace_records records = { 0 };

	drain();
	write_call(10, 1, 1);
	write_call(20, 8, USPL_TRACE_ID_THREAD);
	write_call(30, 1, 2);
	ring.head.tid = 8;
	ok(read_all(&from, &records) == 2 && records.items[0].tid == 0 && records.items[1].tid == 8,
	   "a ring that has become another thread's: the first one isn't known any more");
	write_call(40, 9, USPL_TRACE_ID_THREAD);
	write_call(50, 1, 3);
	ring.head.tid = 9;
	ok(read_all(&from, &records) == 1 && records.items[0].tid == 9, "and another's again");
	vec_release(&records);
}

static volatile int stop;

static void *write_on(void *arg)
{
	uint64_t now = 1000;

	for (uint32_t i = 1; !stop; i = i % 1000000 + 1, now += 10)
		write_call(now, i * 3, i);
	return arg;
}

/* What is read beside a writer at full speed must be whole, and all of it accounted for. */
static void test_busy(void)
{
	struct trace_ring from = reader();
	trace_records records = { 0 };
	uint64_t seen = 0, torn = 0;
	pthread_t thread;

	drain();
	pthread_create(&thread, NULL, write_on, NULL);
	while (__atomic_load_n(&ring.head.pos, __ATOMIC_RELAXED) < (64u << 20)) {
		read_all(&from, &records);
		seen += records.n;
		for (size_t k = 0; k < records.n; k++)
			torn += records.items[k].end - records.items[k].start !=
				records.items[k].id * 3ull;
	}
	stop = 1;
	pthread_join(thread, NULL);
	seen += read_all(&from, &records);
	ok(seen && !torn, "no record is torn (%llu of %llu)", (unsigned long long)torn,
	   (unsigned long long)seen);
	ok(seen + from.overwritten == ring.head.pos / USPL_TRACE_RECORD,
	   "read (%llu) and overwritten (%llu) are all there were", (unsigned long long)seen,
	   (unsigned long long)from.overwritten);
	vec_release(&records);
}

int main(void)
{
	struct uspl_err err = { 0 };

	if (proc_open_readonly(getpid(), &proc, &err)) {
		printf("# %s\n", err.msg);
		return 1;
	}
	test_plain();
	test_overwritten();
	test_unwritten();
	test_last();
	test_partly_written();
	test_long();
	test_threads();
	test_busy();
	proc_free(proc);
	return tap_done();
}
