// SPDX-License-Identifier: MIT
// listen.c - the listeners' two entries: who is called, and which listener is to be told

#include "runtime/listen/listen.h"

#include "runtime/listen/alloc.h"
#include "runtime/listen/args_ring.h"
#include "runtime/listen/lock.h"
#include "runtime/listen/pool.h"
#include "runtime/listen/trigger_fire.h"

/* A thread that comes by a bare thunk first isn't in the table yet: trace.S sees to it. */
static struct uspl_trace_ring *meet(void)
{
	const struct uspl_trace_thread *thread;

	__asm__ volatile("call uspl_trace_meet" : "=a"(thread) : : "rcx", "rdx", "memory", "cc");
	return thread ? (struct uspl_trace_ring *)thread->ring : NULL;
}

/* The thread's ring, by the table that trace.S fills; NULL if it has none. */
static struct uspl_trace_ring *find_ring(void)
{
	struct uspl_trace_thread *table = (struct uspl_trace_thread *)uspl_control.threads;
	uint64_t self, place;

	__asm__("mov %%fs:0, %0" : "=r"(self));
	/* As HOME of trace.S. */
	place = (((self >> 10) + self) >> 12) & (USPL_TRACE_THREADS - 1);
	for (unsigned i = 0; i < USPL_TRACE_PROBES; i++) {
		if (table[place].thread == self)
			return (struct uspl_trace_ring *)table[place].ring;
		place = (place + 1) & (USPL_TRACE_THREADS - 1);
	}
	return meet();
}

/*
 * Fills in what all listeners are told; false: nobody is to be told. Field by field: to clear all
 * of it at once takes longer than the rest.
 */
static bool find(struct heard *heard, const struct call *call, uint32_t id)
{
	struct uspl_desk *desk = (struct uspl_desk *)uspl_control.desk;
	const struct uspl_listen_site *sites;
	uint16_t number;

	/* Wiped in a child of fork. */
	if (!desk || desk->magic != USPL_DESK_MAGIC || id > desk->n_ids)
		return false;
	number = ((const uint16_t *)((uint8_t *)desk + desk->by_id))[id];
	if (!number)
		return false;
	sites = (const struct uspl_listen_site *)((uint8_t *)desk + desk->sites);
	heard->call = call;
	heard->desk = desk;
	heard->site = &sites[number - 1];
	heard->ring = find_ring();
	heard->at = (uint64_t)&call->back;
	heard->caller = call->back;
	heard->start = 0;
	heard->thread = (uint8_t *)heard->ring + uspl_control.ring_bytes - desk->thread_len;
	return true;
}

static void tell_enter(const struct heard *heard)
{
	if (heard->site->role == USPL_LISTEN_NO_ROLE)
		return;
	switch (heard->desk->job) {
	case USPL_LISTEN_ARGS:
		args_enter(heard);
		break;
	case USPL_LISTEN_ALLOC:
		alloc_enter(heard);
		break;
	case USPL_LISTEN_LOCK:
		lock_enter(heard);
		break;
	case USPL_LISTEN_SIGOFF:
		sigoff_enter(heard);
		break;
	case USPL_LISTEN_POOL:
		pool_enter(heard);
		break;
	default:
		break;
	}
}

static void tell_leave(const struct heard *heard)
{
	if (heard->site->role == USPL_LISTEN_NO_ROLE)
		return;
	switch (heard->desk->job) {
	case USPL_LISTEN_ARGS:
		args_leave(heard);
		break;
	case USPL_LISTEN_ALLOC:
		alloc_leave(heard);
		break;
	case USPL_LISTEN_LOCK:
		lock_leave(heard);
		break;
	case USPL_LISTEN_SIGOFF:
		sigoff_leave(heard);
		break;
	case USPL_LISTEN_POOL:
		pool_leave(heard);
		break;
	default:
		break;
	}
}

void listen_enter(const struct call *call)
{
	uint32_t id = *(const uint32_t *)(call->stub + USPL_LISTEN_STUB_ID);
	const uint64_t *slot;
	struct heard heard;

	if (!find(&heard, call, id))
		return;
	slot = listen_slot(heard.at);
	if (heard.site->on_entry)
		trigger_fire(heard.desk, heard.site->on_entry);
	if (!heard.site->bare && !heard.desk->entries) {
		/* The thunk has let the call pass unrecorded. */
		if (call->back != heard.site->back)
			return;
		heard.caller = slot[0];
		heard.start = slot[1];
	}
	if (heard.ring)
		tell_enter(&heard);
	else
		add_atomic(&heard.desk->missed, !heard.desk->halted);
}

/* What a slow call sets off comes after its own record, which is what somebody will look for. */
static bool fire_slow(const struct heard *heard)
{
	bool recorded = heard->desk->job == USPL_LISTEN_ARGS && heard->ring && !heard->desk->halted;

	if (!heard->site->on_slow || ticks() - heard->start < heard->site->slow)
		return false;
	if (recorded)
		args_write_call(heard);
	trigger_fire(heard->desk, heard->site->on_slow);
	return recorded;
}

bool listen_leave(struct call *call)
{
	const uint64_t *slot;
	struct heard heard;

	if (!find(&heard, call, (uint32_t)call->back))
		return false;
	slot = listen_slot(heard.at);
	heard.caller = slot[0];
	heard.start = slot[1];
	if (heard.ring)
		tell_leave(&heard);
	/* Where calls leave no records, there is no need to ask for the time again. */
	if (!fire_slow(&heard) && heard.desk->job == USPL_LISTEN_ARGS)
		return false;
	call->back = heard.caller;
	return true;
}
