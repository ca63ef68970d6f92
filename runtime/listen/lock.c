// SPDX-License-Identifier: MIT
// lock.c - the listeners that measure how long locks are waited for and held, and signals blocked
/*
 * What a thread holds is in a list of its own, the last one last; what is known of a lock, in a
 * table for all. When a lock was held for longer than ever, the top of the holder's stack is
 * copied, for the tool to unwind.
 */

#include "runtime/listen/lock.h"

#include "runtime/listen/memory.h"

#define SYS_RT_SIGPROCMASK 14
#define TRIES 64
#define SIGSET_BYTES 8

struct uspl_lock *lock_find(const struct call_ctx *ctx, uint64_t addr)
{
	struct uspl_lock *locks = config_own(ctx->config);
	uint64_t at = (addr >> 3 ^ addr >> 12) & (USPL_LOCKS - 1);

	for (unsigned i = 0; i < TRIES; i++) {
		struct uspl_lock *lock = &locks[at];
		uint64_t have = __atomic_load_n(&lock->addr, __ATOMIC_RELAXED);

		if (have == addr)
			return lock;
		if (!have && swap(&lock->addr, 0, addr)) {
			lock->kind = ctx->site->param;
			return lock;
		}
		if (lock->addr == addr)
			return lock;
		at = (at + 1) & (USPL_LOCKS - 1);
	}
	add_atomic(&ctx->config->missed, 1);
	return NULL;
}

/* One writer at a time; a thread that comes while another one writes keeps no chain. */
static void keep_chain(const struct call_ctx *ctx, struct uspl_lock *lock, uint64_t ticks_held)
{
	const struct call *call = ctx->call;
	struct uspl_lock_chain *chain = &lock->chain;

	if (!swap(&lock->busy, 0, 1))
		return;
	if (ticks_held > chain->ticks) {
		const uint64_t regs[] = { call->rbx, call->rbp, call->r12,
					  call->r13, call->r14, call->r15 };

		memcpy(chain->regs, regs, sizeof(regs));
		chain->pc = ctx->caller;
		chain->sp = ctx->at + sizeof(uint64_t);
		chain->len = memory_copy_safely(chain->stack, chain->sp, sizeof(chain->stack));
		chain->ticks = ticks_held;
	}
	__atomic_store_n(&lock->busy, 0, __ATOMIC_RELEASE);
}

void lock_note_hold(const struct call_ctx *ctx, struct uspl_lock *lock, const struct span *span)
{
	uint64_t took = ticks() - span->since;

	add_atomic(&lock->held, took);
	if (!raise_to(&lock->hold_max, took))
		return;
	lock->hold_site = span->site;
	lock->left_site = ctx->caller;
	lock->hold_tid = ctx->ring->tid;
	lock->signals = span->signals;
	keep_chain(ctx, lock, took);
}

/* The thread has the lock now. */
static void take(const struct call_ctx *ctx, uint64_t addr, uint64_t site)
{
	struct uspl_lock_thread *thread = ctx->thread;
	struct uspl_lock_held *held = &thread->held[thread->n_held];

	for (uint64_t i = 0; i < thread->n_held; i++)
		if (thread->held[i].addr == addr) {
			thread->held[i].depth++;
			return;
		}
	if (thread->n_held == USPL_LOCKS_HELD) {
		add_atomic(&ctx->config->missed, 1);
		return;
	}
	held->addr = addr;
	held->site = site;
	held->depth = 0;
	held->since = ticks();
	thread->n_held++;
}

/* The thread has it no more. A lock that it had before the start isn't in its list. */
static void leave(const struct call_ctx *ctx, uint64_t addr)
{
	struct uspl_lock_thread *thread = ctx->thread;
	struct uspl_lock *lock;
	uint64_t i = thread->n_held;
	struct span span;

	while (i && thread->held[i - 1].addr != addr)
		i--;
	if (!i)
		return;
	if (thread->held[i - 1].depth) {
		thread->held[i - 1].depth--;
		return;
	}
	span = (struct span){ thread->held[i - 1].since, thread->held[i - 1].site, 0 };
	for (; i < thread->n_held; i++)
		thread->held[i - 1] = thread->held[i];
	thread->n_held--;
	lock = lock_find(ctx, addr);
	if (lock)
		lock_note_hold(ctx, lock, &span);
}

void lock_enter(const struct call_ctx *ctx)
{
	struct uspl_lock_thread *thread = ctx->thread;
	bool waits = ctx->site->role == USPL_LOCK_WAIT;
	uint64_t addr = waits ? ctx->call->rsi : ctx->call->rdi;

	if (ctx->site->role == USPL_LOCK_LEAVE || waits)
		leave(ctx, addr);
	if (ctx->site->role == USPL_LOCK_LEAVE || ctx->config->halted)
		return;
	thread->open = ctx->at;
	thread->open_lock = addr;
	thread->since = ticks();
}

void lock_leave(const struct call_ctx *ctx)
{
	struct uspl_lock_thread *thread = ctx->thread;
	unsigned role = ctx->site->role;
	struct uspl_lock *lock;
	uint64_t waited;

	if (thread->open != ctx->at)
		return;
	thread->open = 0;
	/* A wait has its lock again, whatever it returns. */
	if ((uint32_t)ctx->call->rax && role != USPL_LOCK_WAIT)
		return;
	lock = lock_find(ctx, thread->open_lock);
	if (lock && role != USPL_LOCK_WAIT) {
		waited = role == USPL_LOCK_TRY ? 0 : ticks() - thread->since;
		add_atomic(&lock->taken, 1);
		add_atomic(&lock->waited, waited);
		if (raise_to(&lock->wait_max, waited)) {
			lock->wait_site = ctx->caller;
			lock->wait_tid = ctx->ring->tid;
		}
	}
	take(ctx, thread->open_lock, ctx->caller);
}

/*
 * Which signals the thread has blocked now. The function that is listened to makes this call, too.
 */
static uint64_t blocked_now(void)
{
	uint64_t mask = 0;

	raw_syscall(SYS_RT_SIGPROCMASK,
		    (const uint64_t[6]){ 0, 0, (uint64_t)&mask, SIGSET_BYTES, 0, 0 });
	return mask;
}

/*
 * What was blocked at first is the thread's usual state; only what is blocked on top of it is a
 * span.
 */
void sigoff_enter(const struct call_ctx *ctx)
{
	struct uspl_lock_thread *thread = ctx->thread;

	if (thread->known)
		return;
	thread->base = blocked_now();
	thread->known = 1;
}

void sigoff_leave(const struct call_ctx *ctx)
{
	struct uspl_lock_thread *thread = ctx->thread;
	uint64_t extra = blocked_now() & ~thread->base;
	struct uspl_lock *lock;

	if (!thread->known)
		return;
	if (extra && !thread->blocked) {
		thread->off_since = ticks();
		thread->off_site = ctx->caller;
	}
	if (extra & ~thread->blocked)
		thread->blocked |= extra;
	if (extra || !thread->blocked)
		return;
	lock = lock_find(ctx, thread->off_site);
	if (lock && !ctx->config->halted) {
		add_atomic(&lock->taken, 1);
		lock_note_hold(ctx, lock,
			       &(struct span){ thread->off_since, thread->off_site,
					       thread->blocked });
	}
	thread->blocked = 0;
}
