/* SPDX-License-Identifier: GPL-3.0-or-later */
/* listen_heard.h - for the unit tests of listeners: calls that nobody makes */
#ifndef USPL_TESTS_LISTEN_HEARD_H
#define USPL_TESTS_LISTEN_HEARD_H

#include <stdlib.h>

#include "runtime/listen/heard.h"

/* The session's control page, of which listeners look for the shadow only: it lies at 2 * E. */
struct uspl_trace_control uspl_control;

/* A thread of a process with a desk; the job's own lies behind it. */
struct heard_thread {
	struct uspl_desk *desk;
	void *own, *thread;
	uint64_t *slots; /* the shadow of its stack, two words each */
	struct call call;
	struct uspl_listen_site site;
	struct heard heard;
};

enum { HEARD_SLOTS = 64 };

static inline struct heard_thread *heard_thread_new(size_t own_len, size_t thread_len)
{
	struct heard_thread *t = calloc(1, sizeof(*t));

	t->desk = calloc(1, sizeof(*t->desk) + own_len);
	t->own = t->desk + 1;
	t->desk->own = sizeof(*t->desk);
	t->thread = calloc(1, thread_len);
	t->slots = aligned_alloc(16, HEARD_SLOTS * 16);
	return t;
}

static inline void heard_thread_free(struct heard_thread *t)
{
	free(t->desk);
	free(t->thread);
	free(t->slots);
	free(t);
}

/*
 * A call of a function with that role: `depth` says where on the stack its return address lies,
 * deeper ones lower. Its slot in the shadow has the time of its beginning, as the tracer's thunk
 * writes it.
 */
static inline const struct heard *heard_call(struct heard_thread *t, unsigned role, unsigned depth,
					     uint64_t start)
{
	uint64_t *slot = t->slots + (size_t)2 * (HEARD_SLOTS - 1 - depth);

	slot[1] = start;
	t->site.role = (uint16_t)role;
	t->heard = (struct heard){
		.call = &t->call,
		.desk = t->desk,
		.site = &t->site,
		.at = (uint64_t)slot / 2,
		.caller = 0x401000 + role,
		.start = start,
		.thread = t->thread,
	};
	return &t->heard;
}

#endif
