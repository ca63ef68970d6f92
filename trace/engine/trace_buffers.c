// SPDX-License-Identifier: GPL-3.0-or-later
// trace_buffers.c - the tables and rings of a session, which all traced modules share

#include "trace/engine/trace_buffers.h"

#include "base/log.h"
#include "inject/inject.h"
#include "proc/memcg.h"
#include "proc/task.h"
#include "trace/engine/shared_map.h"
#include "trace/engine/listen_plan.h"
#include "trace/engine/session.h"
#include "trace/engine/shadow_maps.h"

#define N_RINGS 1024
#define CHUNKS_LEN (USPL_TRACE_CHUNKS * sizeof(uint64_t))
#define TABLES_LEN (TRACE_THREADS_LEN + CHUNKS_LEN + PAGE)

_Static_assert(TABLES_LEN + 2 * PAGE <= INJECT_UNMAP_FIRST,
	       "a block of which only the rings have been given back isn't taken for a child's");

/* Bytes of one ring with all that a thread has. */
static uint64_t ring_len(const struct trace_request *request)
{
	const struct listen_plan *plan = request->listen;

	return trace_pages(request->ring_bytes + USPL_TRACE_RING_HEADER) +
	       (plan ? trace_pages(plan->thread_len) : 0);
}

/* A snapshot leaves each thread's ring as it is; from then on there are others. */
static uint64_t rings_len(const struct trace_request *request)
{
	bool twice = request->listen && request->listen->snapshots;

	return ring_len(request) * N_RINGS * (twice ? 2 : 1);
}

/*
 * Open calls are kept for a tool that outlives the process, where calls are recorded with their
 * returns. Sessions of markers have no names.
 */
static bool has_kept(const struct trace_request *request)
{
	return request->keeps && !request->entries;
}

/*
 * Only what threads have written of the rings is there, and that grows as long as the process is
 * traced. So before that it must be clear that the process's group of memory has room for the rings
 * and the shadows of all its threads, and of some more.
 */
#define THREADS_MORE 4
/* The shadow of 64 KB of stack, four times as long, and the kernel's tables for all of it. */
#define SHADOW_LEN (256 * 1024 + 9 * PAGE)
#define KEPT_LEN (TK_NAMES + (uint64_t)USPL_TRACE_KEPT_CHUNKS * USPL_TRACE_NAMES)

uint64_t trace_buffers_may_fill(const struct proc *proc, const struct trace_request *request)
{
	const struct listen_plan *plan = request->listen;
	uint64_t threads = tasks_count(proc) + THREADS_MORE;
	uint64_t len = TABLES_LEN + (plan ? plan->own_len : 0);

	threads = threads < N_RINGS ? threads : N_RINGS;
	len += rings_len(request) / N_RINGS * threads;
	return request->entries ? len : len + SHADOW_LEN * threads;
}

void trace_buffers_control(const struct proc *proc, const struct uspl_trace_region *head,
			   struct uspl_trace_control *ret)
{
	*ret = (struct uspl_trace_control){
		.threads = head->tables,
		.chunks = head->tables + TRACE_THREADS_LEN,
		.rings = head->rings,
		.ring_bytes = head->ring_bytes,
		.ring_mask = head->ring_mask,
		.counters = head->counters,
		.n_rings = head->n_rings,
		.no_syscalls = proc->seccomp != 0,
		.shadow = head->shadow,
		.kept = trace_buffers_kept(head),
	};
}

int trace_buffers_unmap(struct proc *proc, const struct uspl_trace_region *head,
			struct uspl_err *err)
{
	return shared_map_unmap(proc, head->tables, err);
}

int trace_buffers_note_shadow(struct proc *proc, const struct uspl_trace_region *head,
			      struct uspl_err *err)
{
	int rc = shared_map_note_chunks(proc, head->tables, head->tables + TRACE_THREADS_LEN,
					head->shadow, err);

	if (rc)
		return rc;
	return proc->seccomp ? shadow_maps_map_known(proc, head, err) : 0;
}

int trace_buffers_map(struct proc *proc, const struct trace_request *request,
		      struct uspl_trace_region *head, struct uspl_err *err)
{
	struct shared_map shared_map = { .own_len = TABLES_LEN,
					 .absent_len = rings_len(request) +
						       (has_kept(request) ? KEPT_LEN : 0) };
	int rc = memcg_require(proc, trace_buffers_may_fill(proc, request), err);

	if (rc) {
		uspl_hint(err,
			  "raise its limit, or take smaller rings (--buffer); at the limit the "
			  "kernel would kill a process of the group");
		return rc;
	}
	rc = shared_map_map(proc, &shared_map, err);
	if (rc)
		return rc;
	head->tables = shared_map.own;
	head->tables_len = TABLES_LEN;
	head->counters = head->tables + TRACE_THREADS_LEN + CHUNKS_LEN;
	head->rings = shared_map.absent;
	head->ring_mask = request->ring_bytes - 1;
	head->ring_bytes = ring_len(request);
	head->n_rings = N_RINGS;
	head->rings_len = rings_len(request);
	head->kept = has_kept(request);
	if (!request->entries)
		rc = trace_buffers_note_shadow(proc, head, err);
	if (rc) {
		if (trace_buffers_unmap(proc, head, NULL) != 0)
			log_info("trace", "the rings of pid %d stay mapped until the next start",
				 proc->pid);
		head->tables = 0;
	}
	return rc;
}
