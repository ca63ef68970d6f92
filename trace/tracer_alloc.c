// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_alloc.c - who allocates memory, how much of it is live, and how it lies in the heap

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proc/present.h"
#include "trace/glob.h"
#include "trace/smaps.h"
#include "trace/tally.h"

#define SITES_SHOWN 50
#define NO_AGE UINT64_MAX

/* The names of allocators' functions, behind what a library of its own puts before them. */
static const struct {
	const char *glob;
	enum uspl_alloc_role role;
} functions[] = {
	{ "malloc", USPL_ALLOC_MALLOC },
	{ "valloc", USPL_ALLOC_MALLOC },
	{ "pvalloc", USPL_ALLOC_MALLOC },
	{ "mallocx", USPL_ALLOC_MALLOC },
	{ "calloc", USPL_ALLOC_CALLOC },
	{ "realloc", USPL_ALLOC_REALLOC },
	{ "rallocx", USPL_ALLOC_REALLOC },
	{ "reallocarray", USPL_ALLOC_REALLOCARRAY },
	{ "memalign", USPL_ALLOC_MEMALIGN },
	{ "aligned_alloc", USPL_ALLOC_MEMALIGN },
	{ "posix_memalign", USPL_ALLOC_POSIX_MEMALIGN },
	{ "free", USPL_ALLOC_FREE },
	{ "cfree", USPL_ALLOC_FREE },
	{ "dallocx", USPL_ALLOC_FREE },
	{ "sdallocx", USPL_ALLOC_FREE },
	/* operator new, new[], delete, delete[] of the C++ ABI for Itanium, 5.1.5.1 */
	{ "_Znw*", USPL_ALLOC_MALLOC },
	{ "_Zna*", USPL_ALLOC_MALLOC },
	{ "_Zdl*", USPL_ALLOC_FREE },
	{ "_Zda*", USPL_ALLOC_FREE },
	{ "mmap", USPL_ALLOC_MMAP },
	{ "mmap64", USPL_ALLOC_MMAP },
	{ "munmap", USPL_ALLOC_MUNMAP },
	{ "mremap", USPL_ALLOC_MREMAP },
};

static const char *const prefixes[] = { "", "__libc_", "je_", "tc_", "mi_" };

enum { N_OWN = 4 };

/* What the functions of the program's own are, in the order of the options. */
static const enum uspl_alloc_role own_roles[N_OWN] = { USPL_ALLOC_MALLOC, USPL_ALLOC_CALLOC,
						       USPL_ALLOC_REALLOC, USPL_ALLOC_FREE };

struct state {
	/* The options: of an allocator of the program's own. */
	const char *own[N_OWN];
	bool seen[N_OWN]; /* there is such a function */
};

static const char *without_prefix(const char *name, size_t i)
{
	size_t len = strlen(prefixes[i]);

	return strncmp(name, prefixes[i], len) ? NULL : name + len;
}

/* symbol: perhaps with a version behind it, "malloc@@GLIBC_2.2.5". */
static bool find_role(const char *symbol, uint16_t *ret)
{
	auto_free char *name = strndup(symbol, strcspn(symbol, "@"));

	for (size_t p = 0; name && p < ARRAY_SIZE(prefixes); p++) {
		const char *rest = without_prefix(name, p);

		for (size_t i = 0; rest && i < ARRAY_SIZE(functions); i++)
			if (!fnmatch(functions[i].glob, rest, 0)) {
				*ret = (uint16_t)functions[i].role;
				return true;
			}
	}
	return false;
}

static bool find_own(struct state *state, const char *const *names, size_t n, uint16_t *ret)
{
	for (size_t i = 0; i < N_OWN; i++)
		if (state->own[i] && glob_matches_any(state->own[i], names, n)) {
			state->seen[i] = true;
			*ret = (uint16_t)own_roles[i];
			return true;
		}
	return false;
}

static int check(void *ctx, struct uspl_err *err)
{
	const struct state *state = ctx;

	for (size_t i = 0; i < N_OWN; i++)
		if (state->own[i] && !state->seen[i])
			return uspl_fail(err, USPL_E_NO_MODULE, "no function '%s' can be traced",
					 state->own[i]);
	return 0;
}

static bool choose(void *state, const char *const *names, size_t n, struct uspl_listen_site *site)
{
	bool found = find_own(state, names, n, &site->role);

	for (size_t i = 0; !found && i < n; i++)
		found = find_role(names[i], &site->role);
	site->bare = site->role == USPL_ALLOC_FREE || site->role == USPL_ALLOC_MUNMAP;
	return found;
}

/* What is known of a call site. */
struct call_site {
	taddr caller;
	struct uspl_alloc_cell sum;
	uint64_t oldest; /* age of the oldest block that is live, in units since the start */
};

/* A report while it is made. */
struct report {
	const struct tally *tally;
	struct uspl_alloc own;
	struct uspl_alloc_thread thread; /* the one that was read last */
	struct call_site sites[USPL_ALLOC_SITES];
	struct uspl_alloc_cell sum;
	uint64_t sizes[USPL_ALLOC_SIZES], strangers;
	uint64_t heap, heap_live; /* resident in mappings that hold live blocks; live there */
	struct smaps smaps;
};

static void add_thread(struct report *report)
{
	const struct uspl_alloc_thread *thread = &report->thread;

	report->strangers += thread->strangers;
	report->own.live += thread->pending;
	for (size_t i = 0; i < USPL_ALLOC_SIZES; i++)
		report->sizes[i] += thread->sizes[i];
	for (size_t i = 0; i < USPL_ALLOC_SITES; i++) {
		struct uspl_alloc_cell *sum = &report->sites[i].sum;
		const struct uspl_alloc_cell *cell = &thread->cells[i];

		sum->blocks += cell->blocks;
		sum->bytes += cell->bytes;
		sum->freed_blocks += cell->freed_blocks;
		sum->freed_bytes += cell->freed_bytes;
		report->sum.blocks += cell->blocks;
		report->sum.bytes += cell->bytes;
		report->sum.freed_blocks += cell->freed_blocks;
		report->sum.freed_bytes += cell->freed_bytes;
	}
}

/* A block that is live: how old it is, and which mapping of the heap it lies in. */
static void see_block(struct report *report, taddr addr, uint64_t word)
{
	uint64_t age = uspl_alloc_age(word);
	struct call_site *site = &report->sites[word >> USPL_ALLOC_SITE_SHIFT];
	struct smap *map;

	if (age < site->oldest)
		site->oldest = age;
	if (word >> USPL_ALLOC_MAP_BIT & 1)
		return;
	map = smaps_at(&report->smaps, addr);
	if (!map)
		return;
	report->heap_live += uspl_alloc_size(word);
	if (!map->seen)
		report->heap += map->resident;
	map->seen = true;
}

/* Goes through the words of all leaves that are there. */
static int see_blocks(struct report *report, struct uspl_err *err)
{
	char no_path[] = "";
	struct mapping leaves = { .start = report->own.leaves,
				  .end = report->own.leaves + USPL_ALLOC_CHUNKS * USPL_ALLOC_LEAF,
				  .read = true,
				  .write = true,
				  .path = no_path };
	const mapping_vec maps = { .items = &leaves, .n = 1 };
	struct present walk = { .proc = report->tally->view.proc,
				.maps = &maps,
				.budget = UINT64_MAX };
	int rc = present_open(&walk, err);

	while (!rc && present_next(&walk))
		for (size_t i = 0; i < walk.n; i++) {
			uint64_t at = walk.at + i * sizeof(uint64_t) - report->own.leaves;
			uint64_t chunk =
				report->own.chunks[at / USPL_ALLOC_LEAF % USPL_ALLOC_CHUNKS];

			if (walk.words[i] && chunk)
				see_block(report,
					  ((chunk - 1) << USPL_ALLOC_CHUNK_SHIFT) +
						  at % USPL_ALLOC_LEAF,
					  walk.words[i]);
		}
	present_close(&walk);
	return rc;
}

static int read_all(struct report *report, struct uspl_err *err)
{
	const struct tally *tally = report->tally;
	int rc = proc_read(tally->view.proc, tally->own, &report->own, sizeof(report->own), err);

	for (size_t i = 0; i < USPL_ALLOC_SITES; i++) {
		report->sites[i].caller = report->own.sites[i];
		report->sites[i].oldest = NO_AGE;
	}
	for (size_t i = 0; !rc && i < tally->n_threads; i++) {
		rc = tally_read_thread(tally, i, &report->thread, sizeof(report->thread), err);
		if (!rc)
			add_thread(report);
	}
	if (!rc)
		rc = smaps_read(tally->view.proc, &report->smaps, err);
	if (report->own.peak < report->own.live)
		report->own.peak = report->own.live;
	return rc ? rc : see_blocks(report, err);
}

static uint64_t live_bytes(const struct call_site *site)
{
	return site->sum.bytes - site->sum.freed_bytes;
}

static int by_live(const void *a, const void *b)
{
	const struct call_site *x = a, *y = b;
	uint64_t lx = live_bytes(x), ly = live_bytes(y);

	if (lx != ly)
		return lx > ly ? -1 : 1;
	return x->sum.bytes > y->sum.bytes ? -1 : x->sum.bytes < y->sum.bytes;
}

static void add_sums(const struct report *report, struct buf *out)
{
	const struct uspl_alloc *own = &report->own;
	double seconds = report->tally->seconds > 0 ? report->tally->seconds : 1;

	buf_addf(out,
		 "# live: %" PRIu64 " bytes, at most %" PRIu64 "; mapped: %" PRIu64
		 " bytes, at most %" PRIu64 "\n",
		 own->live, own->peak, own->mapped, own->mapped_peak);
	buf_addf(out,
		 "# allocated: %" PRIu64 " blocks of %" PRIu64
		 " bytes, %.0f blocks and %.0f bytes a "
		 "second\n",
		 report->sum.blocks, report->sum.bytes, (double)report->sum.blocks / seconds,
		 (double)report->sum.bytes / seconds);
	buf_addf(out, "# freed: %" PRIu64 " of them; %" PRIu64 " that were there before\n",
		 report->sum.freed_blocks, report->strangers);
	if (report->heap)
		buf_addf(out,
			 "# heap: %" PRIu64 " bytes resident, %" PRIu64
			 " of them in live blocks: %.1f %% fragmentation\n",
			 report->heap, report->heap_live,
			 report->heap_live < report->heap
				 ? 100 - 100.0 * (double)report->heap_live / (double)report->heap
				 : 0);
}

static void add_site(struct report *report, const struct call_site *site, struct buf *out)
{
	struct tally *tally = (struct tally *)report->tally;
	double unit = (double)(1ull << USPL_ALLOC_AGE_SHIFT) * tally->ns_per_tick / 1e9;
	double seconds = tally->seconds > 0 ? tally->seconds : 1;
	char oldest[32] = "-";

	if (site->oldest != NO_AGE)
		snprintf(oldest, sizeof(oldest), "%.0f s",
			 tally->seconds - (double)site->oldest * unit);
	buf_addf(out, "%14" PRIu64 " %10" PRIu64 " %16" PRIu64 " %12" PRIu64 " %10.0f %9s  ",
		 live_bytes(site), site->sum.blocks - site->sum.freed_blocks, site->sum.bytes,
		 site->sum.blocks, (double)site->sum.blocks / seconds, oldest);
	if (site->caller)
		places_add_caller(&tally->places, site->caller, out);
	buf_addstr(out, "\n");
}

static void add_sizes(const struct report *report, struct buf *out)
{
	buf_addf(out, "%14s %10s\n", "SIZE BELOW", "BLOCKS");
	for (size_t i = 0; i < USPL_ALLOC_SIZES; i++)
		if (report->sizes[i])
			buf_addf(out, "%14llu %10" PRIu64 "\n", 1ull << i, report->sizes[i]);
}

static void add_sites(struct report *report, struct buf *out)
{
	size_t n = 0, rest = 0;

	qsort(report->sites, USPL_ALLOC_SITES, sizeof(*report->sites), by_live);
	buf_addf(out, "%14s %10s %16s %12s %10s %9s  %s\n", "LIVE BYTES", "BLOCKS", "BYTES",
		 "CALLS", "CALLS/s", "OLDEST", "CALL SITE");
	for (size_t i = 0; i < USPL_ALLOC_SITES; i++) {
		if (!report->sites[i].sum.blocks)
			continue;
		if (n++ < SITES_SHOWN)
			add_site(report, &report->sites[i], out);
		else
			rest++;
	}
	if (rest)
		buf_addf(out, "# and %zu call sites with less\n", rest);
}

static int add_report(struct tally *tally, struct buf *out, struct uspl_err *err)
{
	auto_free struct report *report = calloc(1, sizeof(*report));
	int rc;

	if (!report)
		return uspl_fail_nomem(err);
	report->tally = tally;
	rc = read_all(report, err);
	if (!rc) {
		add_sums(report, out);
		add_sites(report, out);
		add_sizes(report, out);
	}
	smaps_release(&report->smaps);
	return rc;
}

static const struct tracer_option options[] = {
	{ "malloc", "GLOB", CLI_STRING, offsetof(struct state, own[0]),
	  "functions of your own that allocate: (size)" },
	{ "calloc", "GLOB", CLI_STRING, offsetof(struct state, own[1]), "the same: (n, size)" },
	{ "realloc", "GLOB", CLI_STRING, offsetof(struct state, own[2]),
	  "the same: (block, size)" },
	{ "free", "GLOB", CLI_STRING, offsetof(struct state, own[3]),
	  "functions of your own that free: (block)" },
};

static const struct tracer_tally tally = {
	.job = USPL_LISTEN_ALLOC,
	.own_len = sizeof(struct uspl_alloc),
	.thread_len = sizeof(struct uspl_alloc_thread),
	.leaves_len = USPL_ALLOC_CHUNKS * USPL_ALLOC_LEAF,
	.choose = choose,
	.check = check,
	.report = add_report,
};

const struct tracer tracer_alloc = {
	.name = "alloc",
	.help = "who allocates memory, how much of it is live, and for how long",
	.options = options,
	.n_options = ARRAY_SIZE(options),
	.state_size = sizeof(struct state),
	.tally = &tally,
};
