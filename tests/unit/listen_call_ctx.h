/* SPDX-License-Identifier: GPL-3.0-or-later */
/* listen_call_ctx.h - for the unit tests of listeners: calls that nobody makes */
#ifndef USPL_TESTS_LISTEN_CALL_CTX_H
#define USPL_TESTS_LISTEN_CALL_CTX_H

#include <stdlib.h>

#include "runtime/listen/call_ctx.h"

/* The session's control page, of which listeners look for the shadow only: it lies at 2 * E. */
struct uspl_trace_control uspl_control;

/* A thread of a process with a listener config; the job's own lies behind it. */
struct ctx_thread {
	struct uspl_listen_config *config;
	void *own, *thread;
	uint64_t *slots; /* the shadow of its stack, two words each */
	struct call call;
	struct uspl_listen_site site;
	struct call_ctx ctx;
};

enum { CTX_SLOTS = 64 };

static inline struct ctx_thread *ctx_thread_new(size_t own_len, size_t thread_len)
{
	struct ctx_thread *t = calloc(1, sizeof(*t));

	t->config = calloc(1, sizeof(*t->config) + own_len);
	t->own = t->config + 1;
	t->config->own = sizeof(*t->config);
	t->thread = calloc(1, thread_len);
	t->slots = aligned_alloc(16, CTX_SLOTS * 16);
	return t;
}

static inline void ctx_thread_free(struct ctx_thread *t)
{
	free(t->config);
	free(t->thread);
	free(t->slots);
	free(t);
}

/*
 * A call of a function with that role: `depth` says where on the stack its return address lies,
 * deeper ones lower. Its slot in the shadow has the time of its beginning, as the tracer's thunk
 * writes it.
 */
static inline const struct call_ctx *ctx_call(struct ctx_thread *t, unsigned role, unsigned depth,
					      uint64_t start)
{
	uint64_t *slot = t->slots + (size_t)2 * (CTX_SLOTS - 1 - depth);

	slot[1] = start;
	t->site.role = (uint16_t)role;
	t->ctx = (struct call_ctx){
		.call = &t->call,
		.config = t->config,
		.site = &t->site,
		.at = (uint64_t)slot / 2,
		.caller = 0x401000 + role,
		.start = start,
		.thread = t->thread,
	};
	return &t->ctx;
}

#endif
