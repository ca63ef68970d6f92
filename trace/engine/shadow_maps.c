// SPDX-License-Identifier: GPL-3.0-or-later
// shadow_maps.c - where the shadows of a process' stacks may lie; and shadows for a process that
// may not map memory itself
/*
 * Calls on a stack whose shadow can't be mapped, since something else lies there, can't be
 * recorded. So a session's shadow is laid where nothing is, as far as the process' stacks can be
 * known.
 *
 * Under a filter on system calls the runtime makes none, so a stack without a shadow is one whose
 * calls can't be recorded. What is known to be a stack, or looks like one, gets its shadow from
 * outside before tracing starts: the main thread's, and memory with an inaccessible guard below it,
 * which thread stacks have, those that wait for a next thread, and many coroutines'. Only the upper
 * part of each: few go deeper.
 */

#include "trace/engine/shadow_maps.h"

#include <string.h>

#include "base/log.h"
#include "inject/inject.h"
#include "trace/engine/trace_buffers.h"

#define UPPER (2ull << 20)
#define GROWN (8ull << 20)                /* the usual limit of a stack */
#define N_MAX (USPL_TRACE_CHUNKS / 4 * 3) /* the rest is for those that turn up later */
#define CHUNK_SHIFT 18
#define RUN_MAX ((INJECT_MAX - 2) / 3) /* chunks: each takes up to three more requests */

_Static_assert(1 << CHUNK_SHIFT == USPL_TRACE_CHUNK, "as trace.S has it");
_Static_assert(1ull << (32 - USPL_TRACE_CHUNK_MIX_SHIFT) == USPL_TRACE_CHUNKS, "all of the table");

/* Neighbouring chunks, mapped by one request. */
struct run {
	taddr chunk;
	uint64_t n;
};

struct shadows {
	uint64_t differs;                  /* as `shadow` of the session */
	taddr kept;                        /* the struct uspl_trace_kept; 0: there is none */
	uint64_t next;                     /* of it */
	uint64_t table[USPL_TRACE_CHUNKS]; /* as the target has it */
	size_t n;
	VEC(struct run) runs;
};

static bool is_stack(const mapping_vec *maps, size_t i)
{
	const struct mapping *map = &maps->items[i], *guard;

	if (!map->read || !map->write || map->exec || map->shared || map->inode)
		return false;
	if (!strcmp(map->path, "[stack]"))
		return true;
	/* Another thread's lies behind a guard. */
	guard = i ? map - 1 : NULL;
	return guard && guard->end == map->start && !guard->read && !guard->write && !guard->exec &&
	       !guard->inode;
}

static bool is_taken(const mapping_vec *maps, taddr start, taddr end)
{
	size_t at = vec_lower_bound(maps, it, it->end <= start);

	return at < maps->n && maps->items[at].start < end;
}

/* True if something is mapped where a stack's shadow would be. */
static bool clashes(const mapping_vec *maps, const struct mapping *stack, uint64_t shadow)
{
	taddr end = stack->end, start = end > GROWN ? end - GROWN : 0;

	if (strcmp(stack->path, "[stack]") != 0 && start < stack->start)
		start = stack->start;
	start &= -(taddr)USPL_TRACE_CHUNK;
	/* No shadow wraps around: the bits that differ are far above. */
	end = USPL_TRACE_SHADOW(start) + 2 * (end - start);
	start = USPL_TRACE_SHADOW(start) ^ shadow;
	end ^= shadow;
	return is_taken(maps, start, end) ||
	       (shadow_has_names(shadow) &&
		is_taken(maps, USPL_TRACE_NAME(start), USPL_TRACE_NAME(end)));
}

uint64_t shadow_maps_choose(const struct proc *proc, const uint64_t *choices, size_t n)
{
	size_t fewest = SIZE_MAX;
	uint64_t best = 0;

	for (size_t i = 0; i < n && fewest; i++) {
		size_t clashing = 0;

		for (size_t j = 0; j < proc->maps.n; j++)
			clashing += is_stack(&proc->maps, j) &&
				    clashes(&proc->maps, &proc->maps.items[j], choices[i]);
		if (clashing >= fewest)
			continue;
		fewest = clashing;
		best = choices[i];
	}
	log_info("trace", "the shadow differs by 0x%llx: %zu stacks can't have theirs",
		 (unsigned long long)best, fewest);
	return best;
}

/*
 * The chunk's place in the table, as chunk_meet of trace.S looks for it; NULL if it has none, or is
 * there already.
 */
static uint64_t *place_of(struct shadows *shadows, taddr chunk)
{
	uint32_t number = (uint32_t)(chunk >> CHUNK_SHIFT);
	size_t at = (number * USPL_TRACE_CHUNK_MIX) >> USPL_TRACE_CHUNK_MIX_SHIFT;

	for (size_t i = 0; i < USPL_TRACE_CHUNK_PROBES; i++) {
		uint64_t *place = &shadows->table[(at + i) % USPL_TRACE_CHUNKS];

		if (*place == chunk)
			return NULL;
		if (!*place)
			return place;
	}
	return NULL;
}

static int add_chunk(struct shadows *shadows, taddr chunk, struct uspl_err *err)
{
	uint64_t *place = shadows->n < N_MAX ? place_of(shadows, chunk) : NULL;
	struct run *run = vec_end(&shadows->runs);

	if (!place)
		return 0;
	*place = chunk;
	shadows->n++;
	if (shadows->runs.n && run[-1].n < RUN_MAX &&
	    run[-1].chunk + run[-1].n * USPL_TRACE_CHUNK == chunk) {
		run[-1].n++;
		return 0;
	}
	run = vec_push(&shadows->runs);
	if (!run)
		return uspl_fail_nomem(err);
	*run = (struct run){ chunk, 1 };
	return 0;
}

static int add_stack(struct shadows *shadows, const struct mapping *map, struct uspl_err *err)
{
	bool grows = !strcmp(map->path, "[stack]");
	taddr from = map->end - UPPER;
	int rc = 0;

	if (!grows && from < map->start)
		from = map->start;
	for (from &= -(taddr)USPL_TRACE_CHUNK; from < map->end; from += USPL_TRACE_CHUNK) {
		rc = add_chunk(shadows, from, err);
		if (rc)
			return rc;
	}
	return 0;
}

static bool is_in_run(const struct run *run, taddr chunk)
{
	return chunk - run->chunk < run->n * USPL_TRACE_CHUNK;
}

/* The names of a chunk's slots become memory that outlives the process, if there is room left. */
static size_t keep_names(struct shadows *shadows, taddr chunk, struct inject_req *reqs)
{
	uint64_t i = shadows->next;
	taddr names = USPL_TRACE_NAME(USPL_TRACE_SHADOW(chunk) ^ shadows->differs);

	if (!shadows->kept || i >= USPL_TRACE_KEPT_CHUNKS)
		return 0;
	shadows->next++;
	reqs[0] = inject_syscall(SYS_mremap, shadows->kept + TK_NAMES + i * USPL_TRACE_NAMES, 0,
				 USPL_TRACE_NAMES);
	reqs[0].args[3] = MREMAP_MAYMOVE | MREMAP_FIXED;
	reqs[0].args[4] = names;
	reqs[1] = (struct inject_req){ .kind = INJECT_STORE,
				       .what = shadows->kept + TK_CHUNKS + i * sizeof(chunk),
				       .args = { chunk } };
	return 2;
}

/*
 * Maps the shadow of a run. The table in the target says so in the same run: a tool that finds it
 * there, after us, can unmap it.
 */
static int map_run(struct proc *proc, struct shadows *shadows, taddr table, const struct run *run,
		   struct uspl_err *err)
{
	const int flags = MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	const bool names = shadow_has_names(shadows->differs);
	struct inject_req reqs[INJECT_MAX];
	size_t n = 0, done;
	int rc;
	taddr at = USPL_TRACE_SHADOW(run->chunk) ^ shadows->differs;

	reqs[n++] = inject_mmap(at, 2 * run->n * USPL_TRACE_CHUNK, PROT_READ | PROT_WRITE, flags);
	if (names)
		reqs[n++] = inject_mmap(USPL_TRACE_NAME(at), run->n * USPL_TRACE_NAMES,
					PROT_READ | PROT_WRITE, flags);
	for (size_t i = 0; i < USPL_TRACE_CHUNKS; i++) {
		if (!is_in_run(run, shadows->table[i]))
			continue;
		n += keep_names(shadows, shadows->table[i], reqs + n);
		reqs[n++] = (struct inject_req){ .kind = INJECT_STORE,
						 .what = table + i * sizeof(uint64_t),
						 .args = { shadows->table[i] } };
	}
	rc = inject_run(proc, reqs, n, &done, err);
	if (rc)
		return rc;
	if (done == n)
		return 0;
	/* Something else lies there: the table says that the run has no shadow. */
	for (size_t i = 0; i < USPL_TRACE_CHUNKS; i++)
		if (is_in_run(run, shadows->table[i]))
			shadows->table[i] += USPL_TRACE_CHUNK_NONE;
	/* Something was in the way of the names: the shadow is of no use by itself. */
	rc = done > 1 ? inject_unmap(proc, at, reqs[0].args[1], err) : 0;
	return rc || done < 3 ? rc : inject_unmap(proc, reqs[1].args[0], reqs[1].args[1], err);
}

int shadow_maps_map_known(struct proc *proc, const struct uspl_trace_region *head,
			  struct uspl_err *err)
{
	auto_free struct shadows *shadows = calloc(1, sizeof(*shadows));
	int rc;

	if (!shadows)
		return uspl_fail_nomem(err);
	shadows->differs = head->shadow;
	shadows->kept = trace_buffers_kept(head);
	for (size_t i = 0; i < proc->maps.n; i++) {
		if (!is_stack(&proc->maps, i))
			continue;
		rc = add_stack(shadows, &proc->maps.items[i], err);
		if (rc)
			goto out;
	}
	for (size_t i = 0; i < shadows->runs.n; i++) {
		rc = map_run(proc, shadows, head->tables + TRACE_THREADS_LEN,
			     &shadows->runs.items[i], err);
		if (rc)
			goto out;
	}
	rc = shadows->kept
		     ? proc_write(proc, shadows->kept, &shadows->next, sizeof(shadows->next), err)
		     : 0;
	if (rc)
		goto out;
	rc = proc_write(proc, head->tables + TRACE_THREADS_LEN, shadows->table,
			sizeof(shadows->table), err);

out:
	log_info("trace", "%zu chunks of stacks have shadows", shadows->n);
	vec_release(&shadows->runs);
	return rc;
}
