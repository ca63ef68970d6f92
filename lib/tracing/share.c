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

#define N_RINGS 1024
#define THREADS_LEN (USPL_TRACE_THREADS * sizeof(struct uspl_trace_thread))
#define CHUNKS_LEN (USPL_TRACE_CHUNKS * sizeof(uint64_t))
#define TABLES_LEN (THREADS_LEN + CHUNKS_LEN + TRACE_PAGE)

#ifndef ARCH_GET_FS
#define ARCH_GET_FS 0x1003
#endif
/* glibc's struct pthread has it here since 2.4 on x86-64. */
#define TID_OFFSET_GLIBC 0x2d0
#define TID_OFFSET_MAX 4096

static struct inject_req request(long what, uint64_t a, uint64_t b, uint64_t c)
{
	return (struct inject_req){ .kind = INJECT_SYSCALL,
				    .what = (uint64_t)what,
				    .args = { a, b, c } };
}

static struct inject_req map_request(taddr addr, uint64_t len, int flags, int64_t fd)
{
	return (struct inject_req){ .kind = INJECT_SYSCALL,
				    .what = SYS_mmap,
				    .args = { addr, len, PROT_READ | PROT_WRITE, (uint64_t)flags,
					      (uint64_t)fd, 0 } };
}

/* Runs system calls of which none may fail. */
static int run(struct proc *proc, struct inject_req *reqs, size_t n, const char *what,
	       struct uspl_err *err)
{
	size_t done;
	int rc = inject_run(proc, reqs, n, &done, err);

	if (rc)
		return rc;
	if (done == n && (reqs[n - 1].result >= 0 || reqs[n - 1].result < -4095))
		return 0;
	errno = (int)-reqs[done - 1].result;
	return uspl_fail_errno(err, "cannot map %s in pid %d", what, proc->pid);
}

/* Where the shadow of what lies at a stack address begins. */
static taddr shadow_of(taddr addr)
{
	return 2 * addr & ~(1ull << USPL_TRACE_SHADOW_BIT);
}

static void note(struct uspl_trace_region *head, taddr tables, taddr rings, uint64_t ring_bytes)
{
	head->tables = tables;
	head->tables_len = TABLES_LEN;
	head->counters = tables + THREADS_LEN + CHUNKS_LEN;
	head->rings = rings;
	head->ring_mask = ring_bytes - 1;
	head->ring_bytes = trace_pages(ring_bytes + USPL_TRACE_RING_HEADER);
	head->n_rings = N_RINGS;
	head->rings_len = head->ring_bytes * N_RINGS;
}

int share_map(struct proc *proc, const struct trace_request *req, struct uspl_trace_region *head,
	      struct uspl_err *err)
{
	uint64_t ring = trace_pages(req->ring_bytes + USPL_TRACE_RING_HEADER), len = ring * N_RINGS;
	/* The name of the memory is empty: any zero byte will do. One stands in every ELF header. */
	struct inject_req first[] = {
		map_request(0, TABLES_LEN, MAP_PRIVATE | MAP_ANONYMOUS, -1),
		request(SYS_memfd_create, head->module + 9, MFD_CLOEXEC, 0),
	};
	int rc = run(proc, first, ARRAY_SIZE(first), "the tracer's tables", err);
	uint64_t fd = (uint64_t)first[1].result, tables = (uint64_t)first[0].result;
	struct inject_req second[] = {
		request(SYS_ftruncate, fd, len, 0),
		map_request(0, len, MAP_SHARED | MAP_NORESERVE, (int64_t)fd),
		request(SYS_madvise, tables, TABLES_LEN, MADV_WIPEONFORK),
		request(SYS_close, fd, 0, 0),
	};
	struct inject_req third;
	size_t done;

	if (rc)
		return rc;
	rc = run(proc, second, ARRAY_SIZE(second), "the tracer's rings", err);
	if (rc)
		return rc;
	note(head, tables, (taddr)second[1].result, req->ring_bytes);
	third = request(SYS_madvise, head->rings, head->rings_len, MADV_DONTFORK);
	rc = inject_run(proc, &third, 1, &done, err);
	return rc ? rc : proc_refresh_maps(proc, err);
}

/* Unmaps the shadows of stacks that threads have gone through. */
static int unmap_shadows(struct proc *proc, const struct uspl_trace_region *head,
			 struct uspl_err *err)
{
	uint64_t chunks[USPL_TRACE_CHUNKS];
	struct inject_req reqs[INJECT_MAX];
	size_t n = 0, done;
	int rc = proc_read(proc, head->tables + THREADS_LEN, chunks, sizeof(chunks), err);

	for (size_t i = 0; !rc && i <= USPL_TRACE_CHUNKS; i++) {
		/* Bit 0: a chunk that has none. */
		if (i < USPL_TRACE_CHUNKS && chunks[i] && !(chunks[i] & 1))
			reqs[n++] =
				request(SYS_munmap, shadow_of(chunks[i]), 2 * USPL_TRACE_CHUNK, 0);
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
		request(SYS_munmap, head->tables, head->tables_len, 0),
		request(SYS_munmap, head->rings, head->rings_len, 0),
	};
	struct uspl_err err = { 0 };
	size_t done;
	int rc = unmap_shadows(proc, head, &err);

	if (!rc)
		rc = inject_run(proc, reqs, ARRAY_SIZE(reqs), &done, &err);
	if (rc)
		log_info("trace", "the rings of pid %d stay mapped: %s", proc->pid, err.msg);
}

int64_t share_tid_offset(struct proc *proc, taddr scratch)
{
	struct inject_req reqs[] = { request(SYS_arch_prctl, ARCH_GET_FS, scratch, 0),
				     request(SYS_gettid, 0, 0, 0) };
	uint32_t words[TID_OFFSET_MAX / sizeof(uint32_t)] = { 0 };
	uint64_t thread = 0, zero = 0;
	int64_t found = 0;
	size_t done, n = 0, len;

	if (inject_run(proc, reqs, ARRAY_SIZE(reqs), &done, NULL) || done != ARRAY_SIZE(reqs) ||
	    proc_read(proc, scratch, &thread, sizeof(thread), NULL) ||
	    proc_write(proc, scratch, &zero, sizeof(zero), NULL))
		return 0;
	len = proc_read_some(proc, thread, words, sizeof(words)) / sizeof(*words);
	if (len > TID_OFFSET_GLIBC / sizeof(*words) &&
	    words[TID_OFFSET_GLIBC / sizeof(*words)] == (uint32_t)reqs[1].result)
		return TID_OFFSET_GLIBC;
	for (size_t i = 0; i < len; i++)
		if (words[i] == (uint32_t)reqs[1].result) {
			found = (int64_t)(i * sizeof(*words));
			n++;
		}
	return n == 1 ? found : 0;
}
