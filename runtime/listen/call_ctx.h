/* SPDX-License-Identifier: MIT */
/*
 * call_ctx.h - what a listener is told, and what all listeners do alike
 *
 * They run in the target's threads, between a call and the function: they make no system calls but
 * those that are named here, wait for nothing, and may be interrupted by signal handlers that come
 * here as well. What several threads write is written by atomic operations, what one thread writes
 * by single instructions.
 */
#ifndef USPL_RUNTIME_LISTEN_CALL_CTX_H
#define USPL_RUNTIME_LISTEN_CALL_CTX_H

#include <stdbool.h>

#include "uspl/listen_abi.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* As head.S has pushed it. */
struct call {
	uint64_t rbx, rbp, r12, r13, r14, r15;
	uint64_t r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax;
	const uint8_t *stub; /* of an entry: behind the call in the stub */
	uint64_t back;       /* where the function returns to; of a return: the site's id */
};

/* What a listener is told. */
struct call_ctx {
	const struct call *call;
	struct uspl_listen_config *config;
	const struct uspl_listen_site *site;
	struct uspl_trace_ring *ring;
	uint64_t at;     /* the address of the return address */
	uint64_t caller; /* the return address itself */
	uint64_t start;  /* when the function was called; of a bare one: 0 */
	void *thread;    /* what the job keeps for this thread, if it has a ring */
};

/* The session's control page: listen.ld. */
extern HIDDEN struct uspl_trace_control uspl_control;

/*
 * What the runtime has noted of the call whose return address lies at `at`: the return address, the
 * time.
 */
static inline const uint64_t *listen_slot(uint64_t at)
{
	return (const uint64_t *)(USPL_TRACE_SHADOW(at) ^ uspl_control.shadow);
}

/* The thread's entry in the table that trace.S fills; NULL if it has none yet. */
static inline struct uspl_trace_thread *listen_thread(void)
{
	struct uspl_trace_thread *table = (struct uspl_trace_thread *)uspl_control.threads;
	uint64_t self, place;

	__asm__("mov %%fs:0, %0" : "=r"(self));
	/* As HOME of trace.S. */
	place = (((self >> 10) + self) >> 12) & (USPL_TRACE_THREADS - 1);
	for (unsigned i = 0; i < USPL_TRACE_PROBES; i++) {
		if (table[place].thread == self)
			return &table[place];
		place = (place + 1) & (USPL_TRACE_THREADS - 1);
	}
	return 0;
}

/* The job's own part of the listener config. */
static inline void *config_own(struct uspl_listen_config *config)
{
	return (uint8_t *)config + config->own;
}

static inline uint64_t ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static inline void add_atomic(uint64_t *to, uint64_t value)
{
	__atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}

/* For what only this thread writes: one instruction, which no signal handler can come into. */
static inline void add_own(uint64_t *to, uint64_t value)
{
	__asm__("addq %1, %0" : "+m"(*to) : "er"(value));
}

/* True if the word was `from` and is `to` now. */
static inline bool swap(uint64_t *word, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

/* Makes *word the larger of both; true if it has grown. */
static inline bool raise_to(uint64_t *word, uint64_t value)
{
	uint64_t have = __atomic_load_n(word, __ATOMIC_RELAXED);

	while (value > have)
		if (__atomic_compare_exchange_n(word, &have, value, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

static inline int64_t raw_syscall(long nr, const uint64_t args[6])
{
	register uint64_t r10 __asm__("r10") = args[3];
	register uint64_t r8 __asm__("r8") = args[4];
	register uint64_t r9 __asm__("r9") = args[5];
	int64_t result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(nr), "D"(args[0]), "S"(args[1]), "d"(args[2]), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#endif
