// SPDX-License-Identifier: GPL-3.0-or-later
// shared_map.c - memory of a session that no single module's part owns, mapped so that it can't be
// lost

#include "trace/engine/shared_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "inject/rlimits.h"
#include "record/probe_records.h"
#include "record/registry.h"
#include "record/trace_records.h"
#include "record/partial_mapping.h"
#include "trace/engine/shadow_maps.h"

#define TRIES 5
/* Of a shadow: the requests that unmap its two parts, and the one that notes it. */
#define SHADOW_REQS 3

_Static_assert(offsetof(struct uspl_trace_shared_map, map_len) ==
		       offsetof(struct uspl_partial, map_len),
	       "a mark begins like that of a region");

static taddr mark_of(taddr own)
{
	return own - PAGE;
}

static taddr map_of(taddr own)
{
	return own - 2 * PAGE;
}

static uint64_t map_len_of(const struct shared_map *shared_map)
{
	return shared_map->own_len + shared_map->absent_len + 3 * PAGE;
}

static int fail_map(const struct proc *proc, const struct shared_map *shared_map, int64_t result,
		    struct uspl_err *err)
{
	int rc;

	errno = (int)-result;
	rc = uspl_fail_errno(err, "cannot map %" PRIu64 " MB for the tracer in pid %d",
			     map_len_of(shared_map) >> 20, proc->pid);
	rlimits_hint(proc, -result, err);
	return rc;
}

/* Maps it where shared_map->own says, unless something is there (*ret_taken). */
static int map_at(struct proc *proc, const struct shared_map *shared_map, bool *ret_taken,
		  struct uspl_err *err)
{
	static const uint8_t zeros[INJECT_RESULT_PAGE_LEN];
	struct inject_req reqs[PARTIAL_MAPPING_REQS + 2];
	size_t n = PARTIAL_MAPPING_REQS, done;
	int rc;

	partial_mapping_begin(USPL_TRACE_SHARED_MAP_MAGIC, map_of(shared_map->own),
			      map_len_of(shared_map), mark_of(shared_map->own), PAGE, reqs);
	reqs[n++] =
		inject_syscall(SYS_madvise, shared_map->own, shared_map->own_len, MADV_WIPEONFORK);
	if (shared_map->absent_len)
		reqs[n++] =
			inject_mmap(shared_map->absent, shared_map->absent_len,
				    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE);
	rc = inject_run_mapping(proc, shared_map->own, reqs, n, &done, err);
	if (rc)
		return rc;
	*ret_taken = reqs[0].result == -EEXIST;
	if (*ret_taken)
		return 0;
	/* The answers of the thread that has mapped it lie where zeros are expected. */
	if (done == n &&
	    (!shared_map->absent_len || (taddr)reqs[n - 1].result == shared_map->absent))
		return proc_write(proc, shared_map->own, zeros, sizeof(zeros), err);
	rc = fail_map(proc, shared_map, reqs[done - 1].result, err);
	if (done > 1 &&
	    inject_unmap(proc, map_of(shared_map->own), map_len_of(shared_map), NULL) != 0)
		uspl_context(err, "what is mapped stays until the next start");
	return rc;
}

/*
 * Takes from children what they aren't to have. Before that, the mark says that it may be missing,
 * and the word at `alive` that it isn't.
 */
static int part_from_children(const struct proc *proc, const struct shared_map *shared_map,
			      struct uspl_err *err)
{
	struct {
		uint64_t absent, alive;
	} note = { shared_map->absent, shared_map->own + shared_map->own_len - sizeof(uint64_t) };
	struct inject_req req = inject_syscall(SYS_madvise, shared_map->absent,
					       shared_map->absent_len, MADV_DONTFORK);
	const uint64_t here = 1;
	size_t done;
	int rc;

	_Static_assert(offsetof(struct uspl_trace_shared_map, alive) ==
			       offsetof(struct uspl_trace_shared_map, absent) + sizeof(uint64_t),
		       "both are written at once");
	rc = proc_write(proc, note.alive, &here, sizeof(here), err);
	if (rc)
		return rc;
	rc = proc_write(proc,
			mark_of(shared_map->own) + offsetof(struct uspl_trace_shared_map, absent),
			&note, sizeof(note), err);
	if (rc)
		return rc;
	rc = inject_run(proc, &req, 1, &done, err);
	if (rc)
		return rc;
	return req.result < 0 ? fail_map(proc, shared_map, req.result, err) : 0;
}

int shared_map_map(struct proc *proc, struct shared_map *shared_map, struct uspl_err *err)
{
	bool taken = true;
	taddr map;
	int rc = 0;

	for (int i = 0; taken && i < TRIES; i++) {
		rc = proc_refresh_maps(proc, err);
		if (rc)
			return rc;
		map = mappings_find_wide(&proc->maps, map_len_of(shared_map));
		if (!map)
			return fail_map(proc, shared_map, -ENOMEM, err);
		shared_map->own = map + 2 * PAGE;
		shared_map->absent = shared_map->own + shared_map->own_len;
		rc = map_at(proc, shared_map, &taken, err);
		if (rc)
			return rc;
	}
	if (taken)
		return fail_map(proc, shared_map, -EEXIST, err);
	if (shared_map->absent_len) {
		rc = part_from_children(proc, shared_map, err);
		if (rc)
			return rc;
	}
	return proc_refresh_maps(proc, err);
}

int shared_map_note_chunks(const struct proc *proc, taddr own, taddr chunks, uint64_t shadow,
			   struct uspl_err *err)
{
	struct {
		uint64_t chunks, shadow;
	} note = { chunks, shadow };

	_Static_assert(offsetof(struct uspl_trace_shared_map, shadow) ==
			       offsetof(struct uspl_trace_shared_map, chunks) + sizeof(uint64_t),
		       "both are written at once");
	return proc_write(proc, mark_of(own) + offsetof(struct uspl_trace_shared_map, chunks),
			  &note, sizeof(note), err);
}

/*
 * Unmaps the shadows of stacks that threads have gone through. Each is struck from the table in the
 * same run: what lies there later isn't ours.
 */
static int unmap_shadows(const struct proc *proc, const struct uspl_trace_shared_map *mark,
			 struct uspl_err *err)
{
	uint64_t chunks[USPL_TRACE_CHUNKS];
	struct inject_req reqs[INJECT_MAX];
	size_t n = 0, done;
	int rc = proc_read(proc, mark->chunks, chunks, sizeof(chunks), err);

	if (rc)
		return rc;
	for (size_t i = 0; i <= USPL_TRACE_CHUNKS; i++) {
		if (i < USPL_TRACE_CHUNKS && chunks[i] && !(chunks[i] % USPL_TRACE_CHUNK)) {
			taddr at = USPL_TRACE_SHADOW(chunks[i]) ^ mark->shadow;

			if (shadow_has_names(mark->shadow))
				reqs[n++] = inject_syscall(SYS_munmap, USPL_TRACE_NAME(at),
							   USPL_TRACE_NAMES, 0);
			reqs[n++] = inject_syscall(SYS_munmap, at, 2 * USPL_TRACE_CHUNK, 0);
			reqs[n++] =
				(struct inject_req){ .kind = INJECT_STORE,
						     .what = mark->chunks + i * sizeof(*chunks) };
		}
		if (n + SHADOW_REQS > INJECT_MAX || (n && i == USPL_TRACE_CHUNKS)) {
			rc = inject_run(proc, reqs, n, &done, err);
			n = 0;
			if (rc)
				return rc;
		}
	}
	return 0;
}

/*
 * A child has an empty table of chunks, and not what is absent there: other mappings may be in its
 * place.
 */
static int unmap(const struct proc *proc, const struct uspl_trace_shared_map *mark,
		 struct uspl_err *err)
{
	uint64_t len = mark->map_len, here = 1;
	int rc = mark->chunks ? unmap_shadows(proc, mark, err) : 0;

	if (rc)
		return rc;
	if (mark->absent) {
		rc = proc_read(proc, mark->alive, &here, sizeof(here), err);
		if (rc)
			return rc;
	}
	if (!here)
		len = mark->absent - mark->map;
	return inject_unmap(proc, mark->map, len, err);
}

bool shared_map_is_copy(const struct proc *proc, taddr own)
{
	struct uspl_trace_shared_map mark;
	uint64_t here;

	return proc_read_some(proc, mark_of(own), &mark, sizeof(mark)) == sizeof(mark) &&
	       mark.magic == USPL_TRACE_SHARED_MAP_MAGIC && mark.absent &&
	       proc_read_some(proc, mark.alive, &here, sizeof(here)) == sizeof(here) && !here;
}

int shared_map_unmap(const struct proc *proc, taddr own, struct uspl_err *err)
{
	struct registry registry;
	struct record record;
	int rc;

	registry_begin(&registry, proc, RECORD_SHARED);
	while ((rc = registry_next(&registry, &record, err)) > 0)
		if (record.map->start == mark_of(own))
			return unmap(proc, &record.head.shared, err);
	return rc;
}

/* What sessions speak of. */
struct known {
	struct trace_session session;
	struct marks marks;
};

static void release(struct known *known)
{
	trace_session_release(&known->session);
	marks_release(&known->marks);
}

DEFINE_AUTO_RELEASE(known, struct known, release)
#define auto_known __attribute__((cleanup(cleanup_known_)))

static bool is_known(const struct known *known, taddr own)
{
	const struct trace_region *region;
	const struct mark_region *probes;

	vec_for_each (&known->session.regions, region)
		if (region->head.tables == own || region->head.config == own)
			return true;
	vec_for_each (&known->marks.regions, probes)
		if (probes->head.shared.tables == own)
			return true;
	return false;
}

/* Unmaps those that no session speaks of. */
static int sweep(const struct proc *proc, const struct known *known, size_t *ret_found,
		 struct uspl_err *err)
{
	auto_vec VEC(struct uspl_trace_shared_map) found = { 0 };
	struct uspl_trace_shared_map *mark;
	struct registry registry;
	struct record record;
	int rc;

	registry_begin(&registry, proc, RECORD_SHARED);
	while ((rc = registry_next(&registry, &record, err)) > 0) {
		if (is_known(known, record.map->start + PAGE))
			continue;
		mark = vec_push(&found);
		if (!mark)
			return uspl_fail_nomem(err);
		*mark = record.head.shared;
	}
	if (rc)
		return rc;
	/* In their turn: what is kept of the process goes with each. */
	vec_for_each (&found, mark) {
		rc = unmap(proc, mark, err);
		if (rc)
			return rc;
	}
	*ret_found = found.n;
	return 0;
}

int shared_maps_sweep(struct proc *proc, size_t *ret_found, struct uspl_err *err)
{
	auto_known struct known known = { 0 };
	int rc;

	partial_mapping_sweep(proc);
	rc = trace_session_read(proc, &known.session, err);
	if (rc)
		return rc;
	rc = marks_read(proc, &known.marks, err);
	if (rc)
		return rc;
	rc = sweep(proc, &known, ret_found, err);
	if (rc)
		return rc;
	return *ret_found ? proc_refresh_maps(proc, err) : 0;
}
