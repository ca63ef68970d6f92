// SPDX-License-Identifier: MIT
// trigger_fire.c - the listener that starts and stops the recording, or keeps what was recorded so
// far
/*
 * A recording of returns is halted by a threshold that no call reaches: calls that are open then
 * are recorded if they return after it has been started again. A recording of entries only is
 * halted by taking all threads' rings away; they are kept beside.
 *
 * A snapshot gives every thread another ring, so that what the first ones hold stays. It is taken
 * once.
 */

#include "runtime/listen/trigger_fire.h"

/* Gives the threads their rings back, or takes them away. */
static void set_rings(bool on)
{
	struct uspl_trace_thread *table = (struct uspl_trace_thread *)uspl_control.threads;
	struct uspl_trace_counters *counters = (struct uspl_trace_counters *)uspl_control.counters;

	counters->enabled = on;
	for (unsigned i = 0; i < USPL_TRACE_THREADS; i++) {
		struct uspl_trace_thread *thread = &table[i];

		if (on && thread->kept) {
			thread->ring = thread->kept;
			thread->kept = 0;
			thread->mute = 0;
		} else if (!on && thread->ring) {
			thread->kept = thread->ring;
			thread->mute = 1;
			thread->ring = 0;
		}
	}
}

static void set_halted(struct uspl_listen_config *config, bool halted)
{
	uint64_t threshold;

	if (!swap(&config->halted, !halted, halted))
		return;
	if (config->entries) {
		set_rings(!halted);
	} else if (config->job == USPL_LISTEN_ARGS) {
		threshold = halted ? UINT64_MAX : config->threshold;
		for (uint64_t i = 0; i < config->n_controls; i++)
			((struct uspl_trace_control *)config->controls[i])->threshold = threshold;
	}
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

void trigger_fire(struct uspl_listen_config *config, unsigned actions)
{
	uint64_t now = ticks();

	if (actions & USPL_LISTEN_START && config->halted) {
		config->start_at = now;
		set_halted(config, false);
		add_atomic(&config->started, 1);
	}
	if (actions & USPL_LISTEN_STOP && !config->halted) {
		config->stop_at = now;
		set_halted(config, true);
		add_atomic(&config->stopped, 1);
	}
	if (actions & USPL_LISTEN_SNAPSHOT && !config->halted && swap(&config->snapped, 0, 1)) {
		config->snap_at = now;
		take_snapshot();
	}
}
