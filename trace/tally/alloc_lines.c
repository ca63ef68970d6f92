// SPDX-License-Identifier: GPL-3.0-or-later
// alloc_lines.c - the report of the tracer 'alloc'

#include "trace/tally/alloc_lines.h"

#include <inttypes.h>

#define SITES_SHOWN 50

static double seconds(const struct tally *tally)
{
	return tally->seconds > 0 ? tally->seconds : 1;
}

static void add_sums(const struct tally *tally, const struct alloc_sums *sums, struct buf *out)
{
	const struct uspl_alloc *own = &sums->own;

	buf_addf(out,
		 "# live: %" PRIu64 " bytes, at most %" PRIu64 "; mapped: %" PRIu64
		 " bytes, at most %" PRIu64 "\n",
		 own->live, own->peak, own->mapped, own->mapped_peak);
	buf_addf(out,
		 "# allocated: %" PRIu64 " blocks of %" PRIu64
		 " bytes, %.0f blocks and %.0f bytes a "
		 "second\n",
		 sums->sum.blocks, sums->sum.bytes, (double)sums->sum.blocks / seconds(tally),
		 (double)sums->sum.bytes / seconds(tally));
	buf_addf(out, "# freed: %" PRIu64 " of them; %" PRIu64 " that were there before\n",
		 sums->sum.freed_blocks, sums->strangers);
	if (sums->heap)
		buf_addf(out,
			 "# heap: %" PRIu64 " bytes resident, %" PRIu64
			 " of them in live blocks: %.1f %% fragmentation\n",
			 sums->heap, sums->heap_live, alloc_fragmentation(sums));
}

/* What was found; then a line for each site that has leaks. */
static void add_leaks(struct tally *tally, const struct alloc_sums *sums, struct buf *out)
{
	buf_addf(out,
		 "# leaks: %" PRIu64 " bytes in %" PRIu64
		 " blocks that nothing points to; looked twice, stopped %.0f us at most\n",
		 sums->leaks.bytes, sums->leaks.blocks, sums->leaks_stop_us);
	buf_addf(out, "%14s %10s %16s %12s  %s\n", "LEAKED BYTES", "BLOCKS", "OF LIVE BYTES",
		 "BLOCKS", "CALL SITE");
	for (size_t i = 0; i < sums->n_sites && i < SITES_SHOWN; i++) {
		const struct alloc_site *site = &sums->sites[i];

		if (!site->leaked.blocks)
			continue;
		buf_addf(out, "%14" PRIu64 " %10" PRIu64 " %16" PRIu64 " %12" PRIu64 "  ",
			 site->leaked.bytes, site->leaked.blocks, alloc_site_live(site),
			 site->sum.blocks - site->sum.freed_blocks);
		if (site->caller)
			places_add_caller(&tally->places, site->caller, out);
		buf_addstr(out, "\n");
	}
}

void alloc_add_text(struct tally *tally, const struct alloc_sums *sums, struct buf *out)
{
	add_sums(tally, sums, out);
	if (tally->opts->leaks)
		add_leaks(tally, sums, out);
	buf_addf(out, "%14s %10s %16s %12s %10s %9s  %s\n", "LIVE BYTES", "BLOCKS", "BYTES",
		 "CALLS", "CALLS/s", "OLDEST", "CALL SITE");
	for (size_t i = 0; i < sums->n_sites && i < SITES_SHOWN; i++) {
		const struct alloc_site *site = &sums->sites[i];
		double age = alloc_site_oldest(sums, site);
		char oldest[32] = "-";

		if (age >= 0)
			snprintf(oldest, sizeof(oldest), "%.0f s", age);
		buf_addf(out,
			 "%14" PRIu64 " %10" PRIu64 " %16" PRIu64 " %12" PRIu64 " %10.0f %9s  ",
			 alloc_site_live(site), site->sum.blocks - site->sum.freed_blocks,
			 site->sum.bytes, site->sum.blocks,
			 (double)site->sum.blocks / seconds(tally), oldest);
		if (site->caller)
			places_add_caller(&tally->places, site->caller, out);
		buf_addstr(out, "\n");
	}
	if (sums->n_sites > SITES_SHOWN)
		buf_addf(out, "# and %zu call sites with less\n", sums->n_sites - SITES_SHOWN);
	buf_addf(out, "%14s %10s\n", "SIZE BELOW", "BLOCKS");
	for (size_t i = 0; i < USPL_ALLOC_SIZES; i++)
		if (sums->sizes[i])
			buf_addf(out, "%14llu %10" PRIu64 "\n", 1ull << i, sums->sizes[i]);
}

static void json_add_leaked(const struct leak_sum *leaked, struct json *json)
{
	json_number(json, "leaked_bytes", (int64_t)leaked->bytes);
	json_number(json, "leaked_blocks", (int64_t)leaked->blocks);
}

static void json_add_sums(const struct tally *tally, const struct alloc_sums *sums,
			  struct json *json)
{
	const struct uspl_alloc *own = &sums->own;

	json_open(json, NULL, '{');
	json_number(json, "live_bytes", (int64_t)own->live);
	json_number(json, "peak_bytes", (int64_t)own->peak);
	json_number(json, "mapped_bytes", (int64_t)own->mapped);
	json_number(json, "mapped_peak_bytes", (int64_t)own->mapped_peak);
	json_number(json, "calls", (int64_t)sums->sum.blocks);
	json_number(json, "bytes", (int64_t)sums->sum.bytes);
	json_number(json, "freed", (int64_t)sums->sum.freed_blocks);
	json_number(json, "freed_strangers", (int64_t)sums->strangers);
	json_number(json, "heap_bytes", (int64_t)sums->heap);
	json_number(json, "heap_live_bytes", (int64_t)sums->heap_live);
	json_decimal(json, "fragmentation_percent", alloc_fragmentation(sums), 1);
	if (tally->opts->leaks)
		json_add_leaked(&sums->leaks, json);
	json_close(json, '}');
}

void alloc_add_json(struct tally *tally, const struct alloc_sums *sums, struct buf *out)
{
	auto_json struct json json = { 0 };

	json_add_sums(tally, sums, &json);
	tally_take_json(&json, out);
	for (size_t i = 0; i < sums->n_sites; i++) {
		const struct alloc_site *site = &sums->sites[i];
		double age = alloc_site_oldest(sums, site);
		auto_buf struct buf place = { 0 };

		if (site->caller)
			places_add_caller(&tally->places, site->caller, &place);
		json_open(&json, NULL, '{');
		json_string(&json, "site", buf_str(&place));
		json_number(&json, "live_bytes", (int64_t)alloc_site_live(site));
		json_number(&json, "live_blocks",
			    (int64_t)(site->sum.blocks - site->sum.freed_blocks));
		json_number(&json, "bytes", (int64_t)site->sum.bytes);
		json_number(&json, "calls", (int64_t)site->sum.blocks);
		json_decimal(&json, "calls_per_second", (double)site->sum.blocks / seconds(tally),
			     1);
		if (age >= 0)
			json_decimal(&json, "oldest_s", age, 1);
		if (tally->opts->leaks)
			json_add_leaked(&site->leaked, &json);
		json_close(&json, '}');
		tally_take_json(&json, out);
	}
	for (size_t i = 0; i < USPL_ALLOC_SIZES; i++) {
		if (!sums->sizes[i])
			continue;
		json_open(&json, NULL, '{');
		json_number(&json, "size_below", (int64_t)(1ull << i));
		json_number(&json, "blocks", (int64_t)sums->sizes[i]);
		json_close(&json, '}');
		tally_take_json(&json, out);
	}
}
