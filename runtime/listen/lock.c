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

struct uspl_lock *lock_find(const struct heard *heard, uint64_t addr)
{
	struct uspl_lock *locks = desk_own(heard->desk);
	uint64_t at = (addr >> 3 ^ addr >> 12) & (USPL_LOCKS - 1);

	for (unsigned i = 0; i < TRIES; i++) {
		struct uspl_lock *lock = &locks[at];
		uint64_t have = __atomic_load_n(&lock->addr, __ATOMIC_RELAXED);

		if (have == addr)
			return lock;
		if (!have && swap(&lock->addr, 0, addr)) {
			lock->kind = heard->site->param;
			return lock;
		}
		if (lock->addr == addr)
			return lock;
		at = (at + 1) & (USPL_LOCKS - 1);
	}
	add_atomic(&heard->desk->missed, 1);
	return NULL;
}

/* One writer at a time; who comes while another one writes goes without. */
static void keep_chain(const struct heard *heard, struct uspl_lock *lock, uint64_t ticks_held)
{
	const struct call *call = heard->call;
	struct uspl_lock_chain *chain = &lock->chain;

	if (!swap(&lock->busy, 0, 1))
		return;
	if (ticks_held > chain->ticks) {
		const uint64_t regs[] = { call->rbx, call->rbp, call->r12,
					  call->r13, call->r14, call->r15 };

		memcpy(chain->regs, regs, sizeof(regs));
		chain->pc = heard->caller;
		chain->sp = heard->at + sizeof(uint64_t);
		chain->len = memory_copy_safely(chain->stack, chain->sp, sizeof(chain->stack));
		chain->ticks = ticks_held;
	}
	__atomic_store_n(&lock->busy, 0, __ATOMIC_RELEASE);
}

void lock_note_hold(const struct heard *heard, struct uspl_lock *lock, const struct span *span)
{
	uint64_t took = ticks() - span->since;

	add_atomic(&lock->held, took);
	if (!raise_to(&lock->hold_max, took))
		return;
	lock->hold_site = span->site;
	lock->left_site = heard->caller;
	lock->hold_tid = heard->ring->tid;
	lock->signals = span->signals;
	keep_chain(heard, lock, took);
}

/* The thread has the lock now. */
static void take(const struct heard *heard, uint64_t addr, uint64_t site)
{
	struct uspl_lock_thread *thread = heard->thread;
	struct uspl_lock_held *held = &thread->held[thread->n_held];

	for (uint64_t i = 0; i < thread->n_held; i++)
		if (thread->held[i].addr == addr) {
			thread->held[i].depth++;
			return;
		}
	if (thread->n_held == USPL_LOCKS_HELD) {
		add_atomic(&heard->desk->missed, 1);
		return;
	}
	held->addr = addr;
	held->site = site;
	held->depth = 0;
	held->since = ticks();
	thread->n_held++;
}

/* The thread has it no more. A lock that it had before the start isn't in its list. */
static void leave(const struct heard *heard, uint64_t addr)
{
	struct uspl_lock_thread *thread = heard->thread;
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
	lock = lock_find(heard, addr);
	if (lock)
		lock_note_hold(heard, lock, &span);
}

static void note_wait(const struct heard *heard, struct uspl_lock *lock, uint64_t waited)
{
	add_atomic(&lock->taken, 1);
	add_atomic(&lock->waited, waited);
	if (raise_to(&lock->wait_max, waited)) {
		lock->wait_site = heard->caller;
		lock->wait_tid = heard->ring->tid;
	}
}

void lock_enter(const struct heard *heard)
{
	struct uspl_lock_thread *thread = heard->thread;
	bool waits = heard->site->role == USPL_LOCK_WAIT;
	uint64_t addr = waits ? heard->call->rsi : heard->call->rdi;

	if (heard->site->role == USPL_LOCK_LEAVE || waits)
		leave(heard, addr);
	if (heard->site->role == USPL_LOCK_LEAVE || heard->desk->halted)
		return;
	thread->open = heard->at;
	thread->open_lock = addr;
	thread->since = ticks();
}

void lock_leave(const struct heard *heard)
{
	struct uspl_lock_thread *thread = heard->thread;
	unsigned role = heard->site->role;
	struct uspl_lock *lock;

	if (thread->open != heard->at)
		return;
	thread->open = 0;
	/* A wait has its lock again, whatever it returns. */
	if ((uint32_t)heard->call->rax && role != USPL_LOCK_WAIT)
		return;
	lock = lock_find(heard, thread->open_lock);
	if (lock && role != USPL_LOCK_WAIT)
		note_wait(heard, lock, role == USPL_LOCK_TRY ? 0 : ticks() - thread->since);
	take(heard, thread->open_lock, heard->caller);
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
 * What was blocked at first is how the thread wants to be; only what comes on top of it is a span.
 */
void sigoff_enter(const struct heard *heard)
{
	struct uspl_lock_thread *thread = heard->thread;

	if (thread->known)
		return;
	thread->base = blocked_now();
	thread->known = 1;
}

void sigoff_leave(const struct heard *heard)
{
	struct uspl_lock_thread *thread = heard->thread;
	uint64_t extra = blocked_now() & ~thread->base;
	struct uspl_lock *lock;

	if (!thread->known)
		return;
	if (extra && !thread->blocked) {
		thread->off_since = ticks();
		thread->off_site = heard->caller;
	}
	if (extra & ~thread->blocked)
		thread->blocked |= extra;
	if (extra || !thread->blocked)
		return;
	lock = lock_find(heard, thread->off_site);
	if (lock && !heard->desk->halted) {
		add_atomic(&lock->taken, 1);
		lock_note_hold(heard, lock,
			       &(struct span){ thread->off_since, thread->off_site,
					       thread->blocked });
	}
	thread->blocked = 0;
}
