// SPDX-License-Identifier: GPL-3.0-or-later
// region_record.c - the record of a region: bytes as include/uspl/abi.h has them, and a structure
//
// Reading trusts nothing: the bytes come from the target's memory. Every offset is checked against
// the record's length, every count against a limit, and the last byte has to be NUL, so that no
// string leads out of the record. What reading would refuse is never written.

#include "record/region_record.h"

#include <string.h>

#include "arch/trampoline.h"
#include "record/registry.h"
#include "record/chain_slot.h"

#define COUNT_MAX 100000u
/* Of a SHA-256, and of a key's id. */
#define DIGEST_DIGITS 64
#define KEY_DIGITS 16
/* Longer than any function's name or file name that a compiler makes. */
#define NAME_MAX_LEN 4096u

/* The info part, and how many bytes its strings may still have. */
struct part {
	const struct buf *info;
	size_t strings;
};

/*
 * A string of the info part; NULL if the offset is wrong. The part's last byte is checked to be
 * NUL. Each string has its own place in it: where their copies are longer than the part, some of
 * them overlap in it.
 */
static char *info_string(struct part *part, uint32_t offset)
{
	const struct buf *info = part->info;
	size_t len;

	if (offset >= info->len)
		return NULL;
	len = strlen(info->data + offset) + 1;
	if (len > NAME_MAX_LEN || len > part->strings)
		return NULL;
	part->strings -= len;
	return strdup(info->data + offset);
}

/* Hex digits, all of them or none; 0 for an offset stands for none. */
static char *info_hex(struct part *part, uint32_t offset, size_t digits)
{
	char *text = offset ? info_string(part, offset) : strdup("");

	if (!text || !*text ||
	    (strlen(text) == digits && strspn(text, "0123456789abcdef") == digits))
		return text;
	free(text);
	return NULL;
}

static bool info_holds(const struct buf *info, uint32_t offset, uint32_t n, size_t size)
{
	return offset <= info->len && n <= COUNT_MAX && (uint64_t)n * size <= info->len - offset;
}

static bool read_sites(struct part *part, const struct uspl_region *head, struct region *region)
{
	const struct buf *info = part->info;

	if (!info_holds(info, head->sites, head->n_sites, sizeof(struct uspl_site)))
		return false;
	for (uint32_t i = 0; i < head->n_sites; i++) {
		struct region_site *site = vec_push(&region->sites);
		struct uspl_site raw;

		memcpy(&raw, info->data + head->sites + i * sizeof(raw), sizeof(raw));
		if (!site || !raw.len || raw.len > USPL_SITE_BYTES_MAX)
			return false;
		site->addr = raw.addr;
		site->new_addr = raw.new_addr;
		site->old_size = raw.old_size;
		site->len = (uint8_t)raw.len;
		memcpy(site->old_bytes, raw.old_bytes, sizeof(raw.old_bytes));
		memcpy(site->new_bytes, raw.new_bytes, sizeof(raw.new_bytes));
		if (raw.entry > USPL_ENTRY_LAST || raw.punned_len > PUNNED_MAX)
			return false;
		site->entry = (enum uspl_entry)raw.entry;
		site->punned = raw.punned;
		site->punned_len = (uint8_t)raw.punned_len;
		site->name = info_string(part, raw.name);
		if (!site->name)
			return false;
	}
	return true;
}

static bool read_ranges(struct part *part, uint32_t offset, uint32_t n, region_range_vec *ret)
{
	const struct buf *info = part->info;

	if (!info_holds(info, offset, n, sizeof(struct uspl_range)))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct region_range *range = vec_push(ret);
		struct uspl_range raw;

		memcpy(&raw, info->data + offset + i * sizeof(raw), sizeof(raw));
		if (!range)
			return false;
		range->addr = raw.addr;
		range->size = raw.size;
		range->name = info_string(part, raw.name);
		if (!range->name)
			return false;
	}
	return true;
}

/* What runs in the process is code of the region. */
static bool read_hooks(struct part *part, const struct uspl_region *head, struct region *region)
{
	const struct buf *info = part->info;
	struct uspl_region_hooks raw;

	if (head->version < USPL_ABI_VERSION_HOOKS)
		return true;
	if (info->len < sizeof(*head) + sizeof(raw))
		return false;
	memcpy(&raw, info->data + sizeof(*head), sizeof(raw));
	region->has_hooks = raw.hooks;
	if (!raw.hooks)
		return !raw.n_hooks && !raw.phase;
	if (!info_holds(info, raw.hooks, raw.n_hooks, sizeof(struct uspl_region_hook)) ||
	    raw.phase > USPL_HOOK_LAST)
		return false;
	region->phase = (enum uspl_hook_kind)raw.phase;
	region->hooks_done = raw.done;
	for (uint32_t i = 0; i < raw.n_hooks; i++) {
		struct region_hook *hook = vec_push(&region->hooks);
		struct uspl_region_hook one;

		memcpy(&one, info->data + raw.hooks + i * sizeof(one), sizeof(one));
		if (!hook || !one.kind || one.kind > USPL_HOOK_LAST ||
		    one.addr - region->text >= region->text_len)
			return false;
		hook->addr = one.addr;
		hook->kind = (enum uspl_hook_kind)one.kind;
		hook->name = info_string(part, one.name);
		if (!hook->name)
			return false;
	}
	return true;
}

static bool read_more(struct part *part, const struct uspl_region *head, struct region *region)
{
	const struct buf *info = part->info;
	const size_t at = sizeof(*head) + sizeof(struct uspl_region_hooks);
	struct uspl_region_more raw;

	if (head->version < USPL_ABI_VERSION_MORE)
		return true;
	if (info->len < at + sizeof(raw))
		return false;
	memcpy(&raw, info->data + at, sizeof(raw));
	region->replaces = info_string(part, raw.replaces);
	region->states = info_string(part, raw.states);
	if (!region->replaces || !region->states ||
	    !info_holds(info, raw.data, raw.n_data, sizeof(struct uspl_region_datum)))
		return false;
	for (uint32_t i = 0; i < raw.n_data; i++) {
		struct region_datum *datum = vec_push(&region->data_values);
		struct uspl_region_datum one;

		memcpy(&one, info->data + raw.data + i * sizeof(one), sizeof(one));
		if (!datum || !one.len || one.len > sizeof(one.is))
			return false;
		datum->addr = one.addr;
		datum->len = (uint8_t)one.len;
		memcpy(datum->was, one.was, sizeof(one.was));
		memcpy(datum->is, one.is, sizeof(one.is));
		datum->name = info_string(part, one.name);
		if (!datum->name)
			return false;
	}
	return true;
}

static bool read_by_thread(const struct part *part, const struct uspl_region *head,
			   struct region *region)
{
	const struct buf *info = part->info;
	const size_t at =
		sizeof(*head) + sizeof(struct uspl_region_hooks) + sizeof(struct uspl_region_more);
	struct uspl_region_by_thread raw;

	if (head->version < USPL_ABI_VERSION_BY_THREAD)
		return true;
	if (info->len < at + sizeof(raw))
		return false;
	memcpy(&raw, info->data + at, sizeof(raw));
	region->by_thread = true;
	region->agreed = raw.agreed;
	return true;
}

/* Trampolines and selector are what the tools write to: they must be where the region is. */
static bool trampolines_are_inside(const struct region *region)
{
	uint64_t at = region->trampolines - region->map, selector = region->selector - region->map;

	if (!region->trampolines)
		return !region->selector;
	return at < region->map_len && region->trampolines_len <= region->map_len - at &&
	       region->trampolines_len >= region->sites.n * trampoline_len(region->by_thread) &&
	       selector < region->map_len &&
	       region->map_len - selector >= region_selector_len(region);
}

bool region_decode(const struct buf *info, const struct uspl_region *head, struct region *region)
{
	struct part part = { info, info->len };

	region->self = head->self;
	region->map = head->map;
	region->map_len = head->map_len;
	region->info_len = head->info_len;
	region->state = (enum uspl_region_state)head->state;
	region->module = head->module;
	region->applied_at = head->applied_at;
	region->order = head->order;
	region->frames = head->frames == 1;
	region->thread_key = head->thread_key;
	region->text = head->text;
	region->text_len = head->text_len;
	region->eh_frame = head->eh_frame;
	region->eh_frame_len = head->eh_frame_len;
	region->data = head->data;
	region->data_len = head->data_len;
	region->trampolines = head->trampolines;
	region->trampolines_len = head->trampolines_len;
	region->selector = head->selector;
	region->detours = head->detours;
	if (!head->id[0] || !memchr(head->id, '\0', sizeof(head->id)) || !head->state ||
	    head->state > USPL_REGION_STATE_LAST || info->data[info->len - 1])
		return false;
	memcpy(region->id, head->id, sizeof(region->id));
	region->description = info_string(&part, head->description);
	region->module_name = info_string(&part, head->module_name);
	region->build_id = info_string(&part, head->build_id);
	region->builds_on = info_string(&part, head->builds_on);
	region->digest = info_hex(&part, head->digest, DIGEST_DIGITS);
	region->signer = info_hex(&part, head->signer, KEY_DIGITS);
	if (!info_holds(info, head->patch, 1, (size_t)head->patch_len + 1))
		return false;
	region->patch = strndup(info->data + head->patch, head->patch_len);
	/* A patch is text: what the target put behind a NUL is not copied. */
	region->patch_len = region->patch ? strlen(region->patch) : 0;
	return region->description && region->module_name && region->build_id && region->patch &&
	       region->builds_on && region->digest && region->signer &&
	       read_sites(&part, head, region) &&
	       read_ranges(&part, head->ranges, head->n_ranges, &region->ranges) &&
	       read_ranges(&part, head->names, head->n_names, &region->names) &&
	       read_hooks(&part, head, region) && read_more(&part, head, region) &&
	       read_by_thread(&part, head, region) && trampolines_are_inside(region);
}

/* Appends a string and returns its offset. */
static uint32_t put_string(struct buf *buf, size_t start, const char *str)
{
	uint32_t offset = (uint32_t)(buf->len - start);

	buf_add(buf, str ? str : "", str ? strlen(str) + 1 : 1);
	return offset;
}

static void put_sites(struct buf *buf, size_t start, const struct region *region,
		      struct uspl_region *head)
{
	const struct region_site *site;
	auto_buf struct buf raws = { 0 };

	vec_for_each (&region->sites, site) {
		struct region_site at_home;
		struct uspl_site raw;

		chain_slot_take_record(site, &at_home);
		raw = (struct uspl_site){ .addr = at_home.addr,
					  .new_addr = at_home.new_addr,
					  .old_size = at_home.old_size,
					  .len = at_home.len,
					  .punned = at_home.punned,
					  .punned_len = at_home.punned_len,
					  .entry = at_home.entry };
		raw.name = put_string(buf, start, site->name);
		memcpy(raw.old_bytes, at_home.old_bytes, sizeof(raw.old_bytes));
		memcpy(raw.new_bytes, at_home.new_bytes, sizeof(raw.new_bytes));
		buf_add(&raws, &raw, sizeof(raw));
	}
	buf_align(buf, 8);
	head->sites = (uint32_t)(buf->len - start);
	head->n_sites = (uint32_t)region->sites.n;
	buf_add(buf, raws.data, raws.len);
	buf->oom |= raws.oom;
}

static void put_ranges(struct buf *buf, size_t start, const region_range_vec *ranges,
		       uint32_t *ret_offset, uint32_t *ret_n)
{
	const struct region_range *range;
	auto_buf struct buf raws = { 0 };

	vec_for_each (ranges, range) {
		struct uspl_range raw = { .addr = range->addr, .size = range->size };

		raw.name = put_string(buf, start, range->name);
		buf_add(&raws, &raw, sizeof(raw));
	}
	buf_align(buf, 8);
	*ret_offset = (uint32_t)(buf->len - start);
	*ret_n = (uint32_t)ranges->n;
	buf_add(buf, raws.data, raws.len);
	buf->oom |= raws.oom;
}

static void put_hooks(struct buf *buf, size_t start, const struct region *region,
		      struct uspl_region_hooks *ret)
{
	const struct region_hook *hook;
	auto_buf struct buf raws = { 0 };

	vec_for_each (&region->hooks, hook) {
		const struct uspl_region_hook raw = {
			.addr = hook->addr,
			.name = put_string(buf, start, hook->name),
			.kind = hook->kind,
		};

		buf_add(&raws, &raw, sizeof(raw));
	}
	buf_align(buf, 8);
	*ret = (struct uspl_region_hooks){ .hooks = (uint32_t)(buf->len - start),
					   .n_hooks = (uint32_t)region->hooks.n,
					   .phase = region->phase,
					   .done = region->hooks_done };
	buf_add(buf, raws.data, raws.len);
	buf->oom |= raws.oom;
}

static void put_data(struct buf *buf, size_t start, const struct region *region,
		     struct uspl_region_more *more)
{
	const struct region_datum *datum;
	auto_buf struct buf raws = { 0 };

	vec_for_each (&region->data_values, datum) {
		struct uspl_region_datum raw = { .addr = datum->addr, .len = datum->len };

		raw.name = put_string(buf, start, datum->name);
		memcpy(raw.was, datum->was, sizeof(raw.was));
		memcpy(raw.is, datum->is, sizeof(raw.is));
		buf_add(&raws, &raw, sizeof(raw));
	}
	buf_align(buf, 8);
	more->data = (uint32_t)(buf->len - start);
	more->n_data = (uint32_t)region->data_values.n;
	buf_add(buf, raws.data, raws.len);
	buf->oom |= raws.oom;
}

static int check_size(const struct region *region, struct uspl_err *err)
{
	const struct region_range *range;
	const struct region_site *site;
	const struct region_hook *hook;
	bool fit = strlen(region->description ? region->description : "") <= NAME_MAX_LEN &&
		   strlen(region->module_name ? region->module_name : "") <= NAME_MAX_LEN &&
		   strlen(region->replaces ? region->replaces : "") < NAME_MAX_LEN &&
		   strlen(region->states ? region->states : "") < NAME_MAX_LEN;

	/* What read_region would refuse must not be written. */
	vec_for_each (&region->sites, site)
		fit &= strlen(site->name) <= NAME_MAX_LEN;
	vec_for_each (&region->ranges, range)
		fit &= strlen(range->name) <= NAME_MAX_LEN;
	vec_for_each (&region->names, range)
		fit &= strlen(range->name) <= NAME_MAX_LEN;
	vec_for_each (&region->hooks, hook)
		fit &= strlen(hook->name) <= NAME_MAX_LEN;
	if (!fit)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "a name in the update '%s' is too long",
				 region->id);
	if (region->patch_len > REGION_INFO_MAX / 2 || region->sites.n > COUNT_MAX ||
	    region->ranges.n > COUNT_MAX || region->names.n > COUNT_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "the update '%s' is too large",
				 region->id);
	return 0;
}

/* The record's head but for its strings and arrays. */
static struct uspl_region head_of(const struct region *region)
{
	/*
	 * The oldest version that has all that the record says: older versions of uspl read that.
	 */
	uint32_t version = region->has_hooks ? USPL_ABI_VERSION_HOOKS : USPL_ABI_VERSION;

	if (region->by_thread)
		version = USPL_ABI_VERSION_BY_THREAD;
	else if ((region->replaces && *region->replaces) || (region->states && *region->states) ||
		 region->data_values.n)
		version = USPL_ABI_VERSION_MORE;
	return (struct uspl_region){
		.magic = USPL_REGION_MAGIC,
		.version = version,
		.state = region->state,
		.self = region->self,
		.map = region->map,
		.map_len = region->map_len,
		.text = region->text,
		.text_len = region->text_len,
		.eh_frame = region->eh_frame,
		.eh_frame_len = region->eh_frame_len,
		.data = region->data,
		.data_len = region->data_len,
		.trampolines = region->trampolines,
		.trampolines_len = region->trampolines_len,
		.selector = region->selector,
		.detours = region->detours,
		.module = region->module,
		.applied_at = region->applied_at,
		.order = region->order,
		.frames = region->frames,
		.thread_key = region->thread_key,
		.patch_len = (uint32_t)region->patch_len,
	};
}

int region_encode(const struct region *region, struct buf *buf, struct uspl_err *err)
{
	struct uspl_region head = head_of(region);
	struct uspl_region_hooks hooks = { 0 };
	struct uspl_region_more more;
	const struct uspl_region_by_thread by_thread = { .agreed = region->agreed };
	size_t start = buf->len, fixed = sizeof(head);
	int rc;

	rc = check_size(region, err);
	if (rc)
		return rc;
	memcpy(head.id, region->id, sizeof(head.id));
	if (head.version >= USPL_ABI_VERSION_HOOKS)
		fixed += sizeof(hooks);
	if (head.version >= USPL_ABI_VERSION_MORE)
		fixed += sizeof(more);
	if (head.version >= USPL_ABI_VERSION_BY_THREAD)
		fixed += sizeof(by_thread);
	buf_addzero(buf, fixed);
	head.description = put_string(buf, start, region->description);
	head.module_name = put_string(buf, start, region->module_name);
	head.build_id = put_string(buf, start, region->build_id);
	head.builds_on = put_string(buf, start, region->builds_on);
	head.digest = put_string(buf, start, region->digest);
	head.signer = put_string(buf, start, region->signer);
	if (head.version >= USPL_ABI_VERSION_MORE)
		more = (struct uspl_region_more){ put_string(buf, start, region->replaces),
						  put_string(buf, start, region->states), 0, 0 };
	head.patch = (uint32_t)(buf->len - start);
	buf_add(buf, region->patch, region->patch_len);
	buf_addzero(buf, 1);
	put_sites(buf, start, region, &head);
	put_ranges(buf, start, &region->ranges, &head.ranges, &head.n_ranges);
	put_ranges(buf, start, &region->names, &head.names, &head.n_names);
	if (region->has_hooks)
		put_hooks(buf, start, region, &hooks);
	if (head.version >= USPL_ABI_VERSION_MORE)
		put_data(buf, start, region, &more);
	/* One byte more, so that the last one is NUL whatever the arrays end with. */
	buf_addzero(buf, 1);
	buf_addzero(buf, (PAGE - (buf->len - start) % PAGE) % PAGE);
	if (buf->oom)
		return uspl_fail_nomem(err);
	head.info_len = buf->len - start;
	memcpy(buf->data + start, &head, sizeof(head));
	if (head.version >= USPL_ABI_VERSION_HOOKS)
		memcpy(buf->data + start + sizeof(head), &hooks, sizeof(hooks));
	if (head.version >= USPL_ABI_VERSION_MORE)
		memcpy(buf->data + start + sizeof(head) + sizeof(hooks), &more, sizeof(more));
	if (head.version >= USPL_ABI_VERSION_BY_THREAD)
		memcpy(buf->data + start + sizeof(head) + sizeof(hooks) + sizeof(more), &by_thread,
		       sizeof(by_thread));
	return 0;
}
