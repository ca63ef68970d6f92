// SPDX-License-Identifier: GPL-3.0-or-later
// trace_records.c - what of a process is traced, as its own memory says

#include "record/trace_records.h"

#include <string.h>

#include "arch/arch.h"
#include "base/text.h"
#include "record/registry.h"

#define NAME_MAX_LEN 4096u

static int read_region(const struct proc *proc, const struct record *record,
		       struct trace_session *session, struct uspl_err *err)
{
	const struct uspl_trace_region *head = &record->head.trace;
	struct trace_region *region = vec_push(&session->regions);
	size_t len = head->n_sites * sizeof(struct uspl_trace_site);
	uint64_t most = head->info_len - head->module_name;
	size_t name_len = most < NAME_MAX_LEN ? (size_t)most : NAME_MAX_LEN;
	auto_free char *name = calloc(1, name_len + 1);
	int rc;

	if (!region || !name)
		return uspl_fail_nomem(err);
	region->head = *head;
	rc = proc_charge(proc, 1, 2 * (uint64_t)len, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < head->n_sites; i++)
		if (!vec_push(&region->sites))
			return uspl_fail_nomem(err);
	if (head->n_sites) {
		rc = registry_read(proc, record, head->sites, region->sites.items, len, err);
		if (rc)
			return rc;
	}
	rc = registry_read(proc, record, head->module_name, name, name_len, err);
	if (rc)
		return rc;
	/* The name is shown, and becomes that of a file (trace/cmd/uftrace.c). */
	if (strlen(name) == name_len || strchr(name, '/') || name[0] == '.' || text_is_odd(name))
		return registry_fail_damaged(proc, RECORD_TRACE, head->self, err);
	region->module_name = take_ptr(name);
	return 0;
}

static int by_first_id(const void *a, const void *b)
{
	const struct trace_region *x = a, *y = b;

	return x->head.first_id < y->head.first_id ? -1 : x->head.first_id > y->head.first_id;
}

int trace_session_read(const struct proc *proc, struct trace_session *ret, struct uspl_err *err)
{
	auto_session struct trace_session session = { 0 };
	struct registry registry;
	struct record record;
	int rc;

	registry_begin(&registry, proc, RECORD_TRACE);
	while ((rc = registry_next(&registry, &record, err)) > 0) {
		rc = read_region(proc, &record, &session, err);
		if (rc)
			return rc;
	}
	if (rc)
		return rc;
	if (session.regions.n)
		qsort(session.regions.items, session.regions.n, sizeof(*session.regions.items),
		      by_first_id);
	*ret = session;
	session = (struct trace_session){ 0 };
	return 0;
}

void trace_session_release(struct trace_session *session)
{
	struct trace_region *region;

	vec_for_each (&session->regions, region) {
		free(region->module_name);
		vec_release(&region->sites);
	}
	vec_release(&session->regions);
}

void trace_session_unpatch_image(const struct trace_session *session, struct image *image)
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

bool trace_session_is_on(const struct trace_session *session)
{
	const struct trace_region *region;

	vec_for_each (&session->regions, region)
		if (region->head.state == USPL_TRACE_ON ||
		    region->head.state == USPL_TRACE_SWITCHING)
			return true;
	return false;
}

const struct uspl_trace_site *trace_session_site(const struct trace_session *session, uint32_t id,
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

const struct uspl_trace_site *trace_session_site_at(const struct trace_session *session,
						    taddr entry)
{
	const struct trace_region *region;

	return find_site(session, entry, &region);
}

const struct uspl_trace_site *
trace_session_site_on(const struct proc *proc, const struct trace_session *session, taddr entry)
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

bool trace_merge_nops(taddr entry, const uint8_t *code, size_t len,
		      uint8_t ret[USPL_TRACE_SITE_BYTES])
{
	uint8_t bytes[TRACE_NOPS_CODE];

	memcpy(bytes, code, len);
	if (entry % WORD_LEN + USPL_TRACE_SITE_BYTES > WORD_LEN ||
	    !arch_native()->nops_merge(bytes, USPL_TRACE_SITE_BYTES, len))
		return false;
	memcpy(ret, bytes, USPL_TRACE_SITE_BYTES);
	return true;
}

bool trace_site_is_merged(const struct uspl_trace_site *site, const uint8_t *have, size_t len)
{
	uint8_t code[TRACE_NOPS_CODE], merged[USPL_TRACE_SITE_BYTES];

	memcpy(code, have, len);
	memcpy(code, site->old_bytes, sizeof(site->old_bytes));
	return !site->moved && trace_merge_nops(site->entry, code, len, merged) &&
	       !memcmp(have, merged, sizeof(merged));
}
