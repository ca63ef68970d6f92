// SPDX-License-Identifier: GPL-3.0-or-later
// traced.c - what of a process is traced, as its own memory says

#include "live/traced.h"

#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"
#include "base/text.h"
#include "proc/heads.h"

#define INFO_MAX (256u << 20)
/* More and larger ones than a session of any version has made. */
#define RINGS_MAX 65536u
#define RING_MAX (4ull << 30)

static bool is_record(const struct proc *proc, const struct mapping *map,
		      struct uspl_trace_region *ret)
{
	return mapping_may_hold_record(map) && !proc_charge(proc, 1, 0, NULL) &&
	       proc_read_some(proc, map->start, ret, sizeof(*ret)) == sizeof(*ret) &&
	       ret->magic == USPL_TRACE_MAGIC && ret->self == map->start;
}

bool trace_rings_are_sound(const struct proc *proc, const struct uspl_trace_region *head)
{
	const struct mapping *map = proc_mapping_at(proc, head->rings);

	if ((head->ring_mask & (head->ring_mask + 1)) || head->ring_mask < USPL_TRACE_RECORD ||
	    head->ring_mask >= head->ring_bytes || head->ring_bytes > RING_MAX ||
	    head->n_rings > RINGS_MAX)
		return false;
	return !map || head->n_rings * head->ring_bytes <= map->end - head->rings;
}

static int fail_damaged(const struct proc *proc, taddr at, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_HOSTILE,
			 "the record of a trace at 0x%" PRIx64 " of pid %d is damaged", at,
			 proc->pid);
}

static int check_head(const struct proc *proc, const struct mapping *map,
		      const struct uspl_trace_region *head, struct uspl_err *err)
{
	uint64_t sites_end = head->sites + (uint64_t)head->n_sites * sizeof(struct uspl_trace_site);

	if (head->version != USPL_TRACE_ABI_VERSION) {
		uspl_fail(err, USPL_E_FORMAT,
			  "pid %d is traced by another version of uspl (%u, this program knows %d)",
			  proc->pid, head->version, USPL_TRACE_ABI_VERSION);
		uspl_hint(err, "use the version of uspl that started it");
		return -USPL_E_FORMAT;
	}
	if (head->info_len > map->end - map->start || head->info_len > INFO_MAX ||
	    sites_end > head->info_len || head->module_name >= head->info_len || !head->first_id ||
	    !trace_rings_are_sound(proc, head))
		return fail_damaged(proc, map->start, err);
	return 0;
}

static int read_region(const struct proc *proc, const struct uspl_trace_region *head,
		       struct trace_session *session, struct uspl_err *err)
{
	struct trace_region *region = vec_push(&session->regions);
	int rc = 0;

	if (!region)
		return uspl_fail_nomem(err);
	region->head = *head;
	rc = proc_charge(proc, 1, 2 * (uint64_t)head->n_sites * sizeof(struct uspl_trace_site),
			 err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < head->n_sites; i++)
		if (!vec_push(&region->sites))
			return uspl_fail_nomem(err);
	if (head->n_sites)
		rc = proc_read(proc, head->self + head->sites, region->sites.items,
			       head->n_sites * sizeof(*region->sites.items), err);
	if (!rc)
		rc = proc_read_string(proc, head->self + head->module_name, 4096,
				      &region->module_name, err);
	if (rc)
		return rc;
	/* It is shown, and becomes the name of a file (trace/uftrace.c). */
	if (strchr(region->module_name, '/') || region->module_name[0] == '.' ||
	    text_is_odd(region->module_name))
		return fail_damaged(proc, head->self, err);
	return 0;
}

static int by_first_id(const void *a, const void *b)
{
	const struct trace_region *x = a, *y = b;

	return x->head.first_id < y->head.first_id ? -1 : x->head.first_id > y->head.first_id;
}

int session_read(const struct proc *proc, struct trace_session *ret, struct uspl_err *err)
{
	auto_session struct trace_session session = { 0 };
	struct heads heads = { .proc = proc, .magic = USPL_TRACE_MAGIC };
	const struct mapping *map;
	int rc;

	proc_work_begin(proc);
	while ((map = heads_next(&heads))) {
		struct uspl_trace_region head;

		if (!is_record(proc, map, &head))
			continue;
		rc = check_head(proc, map, &head, err);
		if (!rc)
			rc = read_region(proc, &head, &session, err);
		if (rc)
			return rc;
	}
	/* Of one that took too much, not all mappings were looked at. */
	rc = proc_charge(proc, 0, 0, err);
	if (rc)
		return rc;
	if (session.regions.n)
		qsort(session.regions.items, session.regions.n, sizeof(*session.regions.items),
		      by_first_id);
	*ret = session;
	session = (struct trace_session){ 0 };
	return 0;
}

void session_release(struct trace_session *session)
{
	struct trace_region *region;

	vec_for_each (&session->regions, region) {
		free(region->module_name);
		vec_release(&region->sites);
	}
	vec_release(&session->regions);
}

void session_lay_under(const struct trace_session *session, struct image *image)
{
	const struct trace_region *region;
	const struct uspl_trace_site *site;

	vec_for_each (&session->regions, region)
		vec_for_each (&region->sites, site) {
			/* The image is ours, and so are its bytes. */
			uint8_t *bytes =
				(uint8_t *)image_bytes(image, site->entry, sizeof(site->old_bytes));

			if (bytes)
				memcpy(bytes, site->old_bytes, sizeof(site->old_bytes));
		}
}

bool session_is_on(const struct trace_session *session)
{
	const struct trace_region *region;

	vec_for_each (&session->regions, region)
		if (region->head.state == USPL_TRACE_ON ||
		    region->head.state == USPL_TRACE_SWITCHING)
			return true;
	return false;
}

const struct uspl_trace_site *session_site(const struct trace_session *session, uint32_t id,
					   const struct trace_region **ret_region)
{
	const struct trace_region *region;

	vec_for_each (&session->regions, region)
		if (id >= region->head.first_id && id - region->head.first_id < region->sites.n) {
			*ret_region = region;
			return &region->sites.items[id - region->head.first_id];
		}
	return NULL;
}

const struct uspl_trace_site *trace_region_site(const struct trace_region *region, taddr entry)
{
	size_t low = vec_lower_bound(&region->sites, it, it->entry < entry);

	return low < region->sites.n && region->sites.items[low].entry == entry
		       ? &region->sites.items[low]
		       : NULL;
}

/* As trace_region_site, in all regions. */
static const struct uspl_trace_site *find_site(const struct trace_session *session, taddr entry,
					       const struct trace_region **ret_region)
{
	const struct trace_region *region;

	vec_for_each (&session->regions, region) {
		const struct uspl_trace_site *site = trace_region_site(region, entry);

		if (!site)
			continue;
		*ret_region = region;
		return site;
	}
	return NULL;
}

const struct uspl_trace_site *session_site_at(const struct trace_session *session, taddr entry)
{
	const struct trace_region *region;

	return find_site(session, entry, &region);
}

const struct uspl_trace_site *session_site_on(const struct proc *proc,
					      const struct trace_session *session, taddr entry)
{
	const struct trace_region *region;
	const struct uspl_trace_site *site = find_site(session, entry, &region);
	uint8_t have[USPL_TRACE_SITE_BYTES];
	taddr thunk;

	if (!site || proc_read_some(proc, entry, have, sizeof(have)) != sizeof(have))
		return NULL;
	thunk = region->head.thunks + (taddr)(site - region->sites.items) * USPL_TRACE_THUNK;
	return arch_native()->jump_target(entry, have, sizeof(have)) == thunk ? site : NULL;
}

bool trace_join_nops(taddr entry, const uint8_t *code, size_t len,
		     uint8_t ret[USPL_TRACE_SITE_BYTES])
{
	uint8_t bytes[TRACE_NOPS_CODE];

	memcpy(bytes, code, len);
	if (entry % WORD_LEN + USPL_TRACE_SITE_BYTES > WORD_LEN ||
	    !arch_native()->nops_join(bytes, USPL_TRACE_SITE_BYTES, len))
		return false;
	memcpy(ret, bytes, USPL_TRACE_SITE_BYTES);
	return true;
}

bool trace_site_is_joined(const struct uspl_trace_site *site, const uint8_t *have, size_t len)
{
	uint8_t code[TRACE_NOPS_CODE], joined[USPL_TRACE_SITE_BYTES];

	memcpy(code, have, len);
	memcpy(code, site->old_bytes, sizeof(site->old_bytes));
	return !site->moved && trace_join_nops(site->entry, code, len, joined) &&
	       !memcmp(have, joined, sizeof(joined));
}
