// SPDX-License-Identifier: GPL-3.0-or-later
// share.c - the tables and rings of a session, which all traced modules share

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/log.h"
#include "proc/inject.h"
#include "tracing/internal.h"
#include "tracing/listen.h"

#define N_RINGS 1024
#define CHUNKS_LEN (USPL_TRACE_CHUNKS * sizeof(uint64_t))
#define TABLES_LEN (TRACE_THREADS_LEN + CHUNKS_LEN + PAGE)

/* An address may have its highest bit set; an error is one of the last 4095. */
static bool is_failure(int64_t result)
{
	return result < 0 && result >= -4095;
}

/* Of one ring with all that a thread has. */
static uint64_t ring_len(const struct trace_request *request)
{
	const struct listen_plan *plan = request->listen;

	return trace_pages(request->ring_bytes + USPL_TRACE_RING_HEADER) +
	       (plan ? trace_pages(plan->thread_len) : 0);
}

/* A snapshot leaves each thread's ring to what it holds; then there are others. */
static uint64_t rings_len(const struct trace_request *request)
{
	bool twice = request->listen && request->listen->snapshots;

	return ring_len(request) * N_RINGS * (twice ? 2 : 1);
}

static void note(struct uspl_trace_region *head, taddr tables, taddr rings,
		 const struct trace_request *request)
{
	head->tables = tables;
	head->tables_len = TABLES_LEN;
	head->counters = tables + TRACE_THREADS_LEN + CHUNKS_LEN;
	head->rings = rings;
	head->ring_mask = request->ring_bytes - 1;
	head->ring_bytes = ring_len(request);
	head->n_rings = N_RINGS;
	head->rings_len = rings_len(request);
}

void share_control(const struct proc *proc, const struct uspl_trace_region *head,
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
	};
}

/* Unmaps the shadows of stacks that threads have gone through. */
static int unmap_shadows(struct proc *proc, const struct uspl_trace_region *head,
			 struct uspl_err *err)
{
	uint64_t chunks[USPL_TRACE_CHUNKS];
	struct inject_req reqs[INJECT_MAX];
	size_t n = 0, done;
	int rc = proc_read(proc, head->tables + TRACE_THREADS_LEN, chunks, sizeof(chunks), err);

	for (size_t i = 0; !rc && i <= USPL_TRACE_CHUNKS; i++) {
		if (i < USPL_TRACE_CHUNKS && chunks[i] && !(chunks[i] % USPL_TRACE_CHUNK))
			reqs[n++] = inject_syscall(SYS_munmap,
						   USPL_TRACE_SHADOW(chunks[i]) ^ head->shadow,
						   2 * USPL_TRACE_CHUNK, 0);
		if (n == INJECT_MAX || (n && i == USPL_TRACE_CHUNKS)) {
			rc = inject_run(proc, reqs, n, &done, err);
			n = 0;
		}
	}
	return rc;
}

void share_unmap(struct proc *proc, const struct uspl_trace_region *head)
{
	struct inject_req reqs[] = {
		inject_syscall(SYS_munmap, head->tables, head->tables_len, 0),
		inject_syscall(SYS_munmap, head->rings, head->rings_len, 0),
	};
	struct uspl_err err = { 0 };
	size_t done;
	int rc = unmap_shadows(proc, head, &err);

	if (!rc)
		rc = inject_run(proc, reqs, ARRAY_SIZE(reqs), &done, &err);
	if (rc)
		log_info("trace", "the rings of pid %d stay mapped: %s", proc->pid, err.msg);
}

static int fail_map(const struct proc *proc, int64_t result, struct uspl_err *err)
{
	errno = (int)-result;
	return uspl_fail_errno(err, "cannot map the tracer's rings in pid %d", proc->pid);
}

/* What children of fork get of it. */
static int mark(struct proc *proc, const struct uspl_trace_region *head, struct uspl_err *err)
{
	struct inject_req reqs[] = {
		inject_syscall(SYS_madvise, head->tables, head->tables_len, MADV_WIPEONFORK),
		inject_syscall(SYS_madvise, head->rings, head->rings_len, MADV_DONTFORK),
	};
	size_t done;
	int rc = inject_run(proc, reqs, ARRAY_SIZE(reqs), &done, err);

	if (!rc && reqs[done - 1].result < 0)
		rc = fail_map(proc, reqs[done - 1].result, err);
	return rc;
}

int share_map(struct proc *proc, const struct trace_request *request,
	      struct uspl_trace_region *head, struct uspl_err *err)
{
	struct inject_req reqs[] = {
		inject_mmap(0, TABLES_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE),
		inject_mmap(0, rings_len(request), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_NORESERVE),
	};
	size_t done;
	int rc = inject_run(proc, reqs, ARRAY_SIZE(reqs), &done, err);

	if (rc)
		return rc;
	if (done < ARRAY_SIZE(reqs) || is_failure(reqs[1].result)) {
		rc = fail_map(proc, reqs[done - 1].result, err);
		if (done == ARRAY_SIZE(reqs) &&
		    inject_unmap(proc, (taddr)reqs[0].result, TABLES_LEN, NULL) != 0)
			log_info("trace", "tables stay mapped in pid %d", proc->pid);
		return rc;
	}
	note(head, (taddr)reqs[0].result, (taddr)reqs[1].result, request);
	rc = mark(proc, head, err);
	if (!rc)
		rc = proc_refresh_maps(proc, err);
	if (!rc && proc->seccomp && !request->entries)
		rc = stacks_map_shadows(proc, head, err);
	if (rc) {
		share_unmap(proc, head);
		head->tables = 0;
	}
	return rc;
}
