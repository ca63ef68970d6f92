/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alloc_sums.h - what the listeners of the tracer 'alloc' have counted, added up */
#ifndef USPL_TRACE_TALLY_ALLOC_SUMS_H
#define USPL_TRACE_TALLY_ALLOC_SUMS_H

#include "trace/tally/leaks.h"
#include "trace/tally/smaps.h"
#include "trace/tally/tally.h"

#define ALLOC_NO_AGE UINT64_MAX

/* What is known of a call site. */
struct alloc_site {
	taddr caller;
	struct uspl_alloc_cell sum;
	uint64_t oldest; /* age of the oldest block that is live, in units since the start */
	struct leak_sum leaked;
};

struct alloc_sums {
	const struct tally *tally;
	struct uspl_alloc own;
	struct uspl_alloc_thread thread; /* the one that was read last */
	/* That were called, those that have leaked most, or with the most live bytes, first. */
	struct alloc_site sites[USPL_ALLOC_SITES];
	size_t n_sites;
	struct uspl_alloc_cell sum;
	uint64_t sizes[USPL_ALLOC_SIZES], strangers;
	/* If the report is to say them (tally->leaks). */
	struct leak_sum leaks;
	double leaks_stop_us;     /* the longest that threads stood still for it */
	uint64_t heap, heap_live; /* resident in mappings that hold live blocks; live there */
	struct smaps smaps;
};

/* Reads them. alloc_sums_free follows. */
int alloc_sums_read(const struct tally *tally, struct alloc_sums **ret,
		    struct uspl_err *err) uspl_must_check;
/* NULL is fine. */
void alloc_sums_free(struct alloc_sums *sums);
DEFINE_AUTO_FREE(alloc_sums, struct alloc_sums, alloc_sums_free)
#define auto_alloc_sums __attribute__((cleanup(cleanup_alloc_sums_)))
/* Of a site: bytes that are live. */
static inline uint64_t alloc_site_live(const struct alloc_site *site)
{
	return site->sum.bytes - site->sum.freed_bytes;
}
/* And for how many seconds the oldest block has been live; below 0 if none is. */
double alloc_site_oldest(const struct alloc_sums *sums, const struct alloc_site *site);
/* The part of the heap that isn't in live blocks, in percent. */
double alloc_fragmentation(const struct alloc_sums *sums);

#endif
