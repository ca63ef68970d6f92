// SPDX-License-Identifier: MIT
// trigger_fire.c - the listener that starts and stops the recording, or keeps what was recorded so
// far
/*
 * What records returns is halted by a threshold that no call reaches: calls that are open then are
 * recorded if they return after it has been started again. What records entries only is halted by
 * taking all threads' rings away; they are kept beside.
 *
 * A snapshot gives every thread another ring, so that what the first ones hold stays. It is taken
 * once.
 */

#include "runtime/listen/trigger_fire.h"

#define RING_KEPT 0 /* in uspl_trace_thread.rest */

static void set_thresholds(struct uspl_desk *desk, uint64_t threshold)
{
	for (uint64_t i = 0; i < desk->n_controls; i++)
		((struct uspl_trace_control *)desk->controls[i])->threshold = threshold;
}

/* Gives the threads their rings back, or takes them away. */
static void set_rings(bool on)
{
	struct uspl_trace_thread *table = (struct uspl_trace_thread *)uspl_control.threads;
	struct uspl_trace_counters *counters = (struct uspl_trace_counters *)uspl_control.counters;

	counters->enabled = on;
	for (unsigned i = 0; i < USPL_TRACE_THREADS; i++) {
		struct uspl_trace_thread *thread = &table[i];

		if (on && thread->rest[RING_KEPT]) {
			thread->ring = thread->rest[RING_KEPT];
			thread->rest[RING_KEPT] = 0;
			thread->mute = 0;
		} else if (!on && thread->ring) {
			thread->rest[RING_KEPT] = thread->ring;
			thread->mute = 1;
			thread->ring = 0;
		}
	}
}

static void set_halted(struct uspl_desk *desk, bool halted)
{
	if (!swap(&desk->halted, !halted, halted))
		return;
	if (desk->entries)
		set_rings(!halted);
	else if (desk->job == USPL_LISTEN_ARGS)
		set_thresholds(desk, halted ? UINT64_MAX : desk->threshold);
}

static void take_snapshot(void)
{
	struct uspl_trace_thread *table = (struct uspl_trace_thread *)uspl_control.threads;
	uint64_t all = uspl_control.ring_bytes * uspl_control.n_rings;

	for (unsigned i = 0; i < USPL_TRACE_THREADS; i++) {
		struct uspl_trace_ring *ring = (struct uspl_trace_ring *)table[i].ring;

		if (!ring)
			continue;
		((struct uspl_trace_ring *)((uint8_t *)ring + all))->tid = ring->tid;
		table[i].ring = (uint64_t)ring + all;
	}
}

void trigger_fire(struct uspl_desk *desk, unsigned actions)
{
	uint64_t now = ticks();

	if (actions & USPL_LISTEN_START && desk->halted) {
		desk->start_at = now;
		set_halted(desk, false);
		add_atomic(&desk->started, 1);
	}
	if (actions & USPL_LISTEN_STOP && !desk->halted) {
		desk->stop_at = now;
		set_halted(desk, true);
		add_atomic(&desk->stopped, 1);
	}
	if (actions & USPL_LISTEN_SNAPSHOT && !desk->halted && swap(&desk->snapped, 0, 1)) {
		desk->snap_at = now;
		take_snapshot();
	}
}
