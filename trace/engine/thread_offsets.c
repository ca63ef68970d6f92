// SPDX-License-Identifier: GPL-3.0-or-later
// thread_offsets.c - where the runtime finds what it must know of a thread: its id, its processor;
// and which threads it records
/*
 * Both lie at a fixed distance from the thread pointer, in all threads. The libc keeps the thread's
 * id in its thread control block, to know it without a system call; the tool finds the place by
 * looking for the id. The kernel keeps the number of the processor in an area that the libc has
 * registered for each thread (rseq(2); glibc 2.35 and newer do it); the kernel tells where.
 */

#include "trace/engine/thread_offsets.h"

#include <inttypes.h>
#include <linux/rseq.h>
#include <string.h>

#include "inject/inject.h"
#include "uspl/trace_abi.h"

/* glibc's struct pthread has it here since 2.4 on x86-64. */
#define TID_OFFSET_GLIBC 0x2d0
#define TID_OFFSET_MAX 4096
/* struct pthread above the thread pointer, the static block of thread-local variables below. */
#define RSEQ_ABOVE_MAX 4096
#define RSEQ_BELOW_MAX 65536

/* At these distances from the thread pointer. */
struct places {
	int64_t tid; /* 0: not known */
	int64_t cpu; /* if cpu_known */
	bool cpu_known;
};

/* What is seen of a thread while it stands still. */
struct sight {
	taddr thread, rseq;
};

static bool look(void *ctx, const struct thread *thread)
{
	struct sight *sight = ctx;

	sight->thread = regs_tcb(&thread->regs);
	sight->rseq = thread_rseq(thread);
	return true;
}

/* Where in the bytes behind the thread pointer the id is; 0 if that can't be told. */
static int64_t find_id(const struct proc *proc, taddr thread, uint32_t id)
{
	uint32_t words[TID_OFFSET_MAX / sizeof(uint32_t)] = { 0 };
	size_t n = 0, len = proc_read_some(proc, thread, words, sizeof(words)) / sizeof(*words);
	int64_t found = 0;

	if (len > TID_OFFSET_GLIBC / sizeof(*words) &&
	    words[TID_OFFSET_GLIBC / sizeof(*words)] == id)
		return TID_OFFSET_GLIBC;
	for (size_t i = 0; i < len; i++)
		if (words[i] == id) {
			found = (int64_t)(i * sizeof(*words));
			n++;
		}
	return n == 1 ? found : 0;
}

static void find_places(struct proc *proc, struct places *ret)
{
	struct inject_req req = inject_syscall(SYS_gettid, 0, 0, 0);
	struct sight sight = { 0 };
	int64_t distance;
	const struct inject_choice choice = { .fit = look, .ctx = &sight };
	size_t done;

	*ret = (struct places){ 0 };
	if (inject_run_in(proc, &choice, &req, 1, &done, NULL) || !done)
		return;
	ret->tid = find_id(proc, sight.thread, (uint32_t)req.result);
	distance = (int64_t)(sight.rseq - sight.thread);
	/* Outside of the thread's own block it isn't at the same distance in all threads. */
	if (sight.rseq && distance > -RSEQ_BELOW_MAX && distance < RSEQ_ABOVE_MAX &&
	    sysconf(_SC_NPROCESSORS_CONF) <= USPL_TRACE_CPU_MAX + 1) {
		ret->cpu = distance + (int64_t)offsetof(struct rseq, cpu_id);
		ret->cpu_known = true;
	}
}

int thread_offsets_find(struct proc *proc, const tid_vec *tids, struct uspl_trace_control *control,
			struct uspl_err *err)
{
	struct places places;

	find_places(proc, &places);
	control->tid_offset = places.tid;
	control->cpu_offset = places.cpu;
	control->cpu_mask = places.cpu_known ? USPL_TRACE_CPU_MASK : 0;
	if (tids->n > USPL_TRACE_TIDS)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "more than %d threads can't be chosen: trace all of them",
				 USPL_TRACE_TIDS);
	if (tids->n && control->no_syscalls && !control->tid_offset)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the threads of pid %d can't be told apart: it has a filter on "
				 "system calls, and its libc is unknown",
				 proc->pid);
	for (size_t i = 0; i < tids->n; i++) {
		pid_t inner = task_inner_id(proc, tids->items[i]);

		if (!inner)
			return uspl_fail(err, USPL_E_NO_PROCESS, "pid %d has no thread %d",
					 proc->pid, tids->items[i]);
		control->tids[i] = (uint32_t)inner;
	}
	control->n_tids = tids->n;
	return 0;
}
