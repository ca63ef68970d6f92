// SPDX-License-Identifier: MIT
// listen.c - the listeners' two entries: what was called, and which listener is to be told

#include "runtime/listen/listen.h"

#include "runtime/listen/alloc.h"
#include "runtime/listen/args_ring.h"
#include "runtime/listen/lock.h"
#include "runtime/listen/pool.h"
#include "runtime/listen/trigger_fire.h"

/* The thread's ring; NULL if it has none. */
static struct uspl_trace_ring *find_ring(void)
{
	const struct uspl_trace_thread *thread = listen_thread();

	/* A thread that comes by a bare thunk first isn't in the table yet: trace.S sees to it. */
	if (!thread)
		__asm__ volatile("call uspl_trace_meet"
				 : "=a"(thread)
				 :
				 : "rcx", "rdx", "memory", "cc");
	return thread ? (struct uspl_trace_ring *)thread->ring : NULL;
}

/*
 * Fills in what all listeners are told; false: no listener is to be told. Field by field: to clear
 * all of it at once takes longer than the rest.
 */
static bool find(struct call_ctx *ctx, const struct call *call, uint32_t id)
{
	struct uspl_listen_config *config = (struct uspl_listen_config *)uspl_control.config;
	const struct uspl_listen_site *sites;
	uint16_t number;

	/* Wiped in a child of fork. */
	if (!config || config->magic != USPL_LISTEN_CONFIG_MAGIC || id > config->n_ids)
		return false;
	number = ((const uint16_t *)((uint8_t *)config + config->by_id))[id];
	if (!number)
		return false;
	sites = (const struct uspl_listen_site *)((uint8_t *)config + config->sites);
	ctx->call = call;
	ctx->config = config;
	ctx->site = &sites[number - 1];
	ctx->ring = find_ring();
	ctx->at = (uint64_t)&call->back;
	ctx->caller = call->back;
	ctx->start = 0;
	ctx->thread = (uint8_t *)ctx->ring + uspl_control.ring_bytes - config->thread_len;
	return true;
}

static void tell_enter(const struct call_ctx *ctx)
{
	if (ctx->site->role == USPL_LISTEN_NO_ROLE)
		return;
	switch (ctx->config->job) {
	case USPL_LISTEN_ARGS:
		args_enter(ctx);
		break;
	case USPL_LISTEN_ALLOC:
		alloc_enter(ctx);
		break;
	case USPL_LISTEN_LOCK:
		lock_enter(ctx);
		break;
	case USPL_LISTEN_SIGOFF:
		sigoff_enter(ctx);
		break;
	case USPL_LISTEN_POOL:
		pool_enter(ctx);
		break;
	default:
		break;
	}
}

static void tell_leave(const struct call_ctx *ctx)
{
	if (ctx->site->role == USPL_LISTEN_NO_ROLE)
		return;
	switch (ctx->config->job) {
	case USPL_LISTEN_ARGS:
		args_leave(ctx);
		break;
	case USPL_LISTEN_ALLOC:
		alloc_leave(ctx);
		break;
	case USPL_LISTEN_LOCK:
		lock_leave(ctx);
		break;
	case USPL_LISTEN_SIGOFF:
		sigoff_leave(ctx);
		break;
	case USPL_LISTEN_POOL:
		pool_leave(ctx);
		break;
	default:
		break;
	}
}

void listen_enter(const struct call *call)
{
	uint32_t id = *(const uint32_t *)(call->stub + USPL_LISTEN_STUB_ID);
	const uint64_t *slot;
	struct call_ctx ctx;

	if (!find(&ctx, call, id))
		return;
	slot = listen_slot(ctx.at);
	if (ctx.site->on_entry)
		trigger_fire(ctx.config, ctx.site->on_entry);
	if (!ctx.site->bare && !ctx.config->entries) {
		/* The thunk has let the call pass unrecorded. */
		if (call->back != ctx.site->back)
			return;
		ctx.caller = slot[0];
		ctx.start = slot[1];
	}
	if (ctx.ring)
		tell_enter(&ctx);
	else
		add_atomic(&ctx.config->missed, !ctx.config->halted);
}

/* What a slow call sets off comes after its own record, which is what a user will look for. */
static bool fire_slow(const struct call_ctx *ctx)
{
	bool recorded = ctx->config->job == USPL_LISTEN_ARGS && ctx->ring && !ctx->config->halted;

	if (!ctx->site->on_slow || ticks() - ctx->start < ctx->site->slow)
		return false;
	if (recorded)
		args_write_call(ctx);
	trigger_fire(ctx->config, ctx->site->on_slow);
	return recorded;
}

bool listen_leave(struct call *call)
{
	const uint64_t *slot;
	struct call_ctx ctx;

	if (!find(&ctx, call, (uint32_t)call->back))
		return false;
	slot = listen_slot(ctx.at);
	ctx.caller = slot[0];
	ctx.start = slot[1];
	if (ctx.ring)
		tell_leave(&ctx);
	/* Where calls leave no records, there is no need to ask for the time again. */
	if (!fire_slow(&ctx) && ctx.config->job == USPL_LISTEN_ARGS)
		return false;
	call->back = ctx.caller;
	return true;
}
