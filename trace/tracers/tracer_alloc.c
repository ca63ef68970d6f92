// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_alloc.c - which code allocates memory, how much of it is live, and how it lies in the heap

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/demangle.h"
#include "trace/output/tracer.h"
#include "trace/tally/alloc_lines.h"
#include "trace/tally/glob.h"
#include "trace/tracers/tracers.h"

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

/* symbol: perhaps with a version behind it, "malloc@@GLIBC_2.2.5". */
static bool find_role(const char *symbol, uint16_t *ret)
{
	auto_free char *name = strndup(symbol, demangle_stem_len(symbol));

	for (size_t p = 0; name && p < ARRAY_SIZE(prefixes); p++) {
		size_t len = strlen(prefixes[p]);

		if (strncmp(name, prefixes[p], len) != 0)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
			if (!fnmatch(functions[i].glob, name + len, 0)) {
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

static int add_report(struct tally *tally, bool json, struct buf *out, struct uspl_err *err)
{
	auto_alloc_sums struct alloc_sums *sums = NULL;
	int rc = alloc_sums_read(tally, &sums, err);

	if (rc)
		return rc;
	(json ? alloc_add_json : alloc_add_text)(tally, sums, out);
	return 0;
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
	.finds_leaks = true,
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
