// SPDX-License-Identifier: GPL-3.0-or-later
// region.c - what is applied in a process, read from its own memory

#include "live/region.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define PAGE 4096u
/* More than any update needs; keeps a lying header from making us read gigabytes. */
#define INFO_MAX (64u << 20)
#define COUNT_MAX 100000u
/* Longer than any function's name or file name that a compiler makes. */
#define NAME_MAX_LEN 4096u
/* How many updates a process can hold, undone ones included. */
#define REGIONS_MAX 1024u

static const struct {
	const char *word;
	bool live; /* an entry may hold a jump */
} states[] = {
	[0] = { "unknown", false },
	[USPL_REGION_LOADED] = { "loaded", false },
	[USPL_REGION_SWITCHING_ON] = { "interrupted", true },
	[USPL_REGION_APPLIED] = { "applied", true },
	[USPL_REGION_SWITCHING_OFF] = { "interrupted", true },
	[USPL_REGION_UNDONE] = { "undone", false },
};

bool region_is_live(const struct region *region)
{
	return states[region->state].live;
}

const char *region_state_word(enum uspl_region_state state)
{
	return states[(size_t)state < ARRAY_SIZE(states) ? state : 0].word;
}

bool region_builds_on(const struct region *region, const char *id)
{
	const char *at = region->builds_on;
	size_t len = strlen(id);

	while (at && *at) {
		size_t word = strcspn(at, " ");

		if (word == len && !memcmp(at, id, len))
			return true;
		at += word + (at[word] == ' ');
	}
	return false;
}

bool region_has_id(const struct region *region, const char *id)
{
	return !strcmp(region->id, id);
}

void region_release(struct region *region)
{
	struct region_range *range;
	struct region_site *site;

	vec_for_each (&region->sites, site)
		free(site->name);
	vec_release(&region->sites);
	vec_for_each (&region->ranges, range)
		free(range->name);
	vec_release(&region->ranges);
	free(region->description);
	free(region->module_name);
	free(region->patch);
	free(region->builds_on);
	*region = (struct region){ 0 };
}

void regions_release(region_vec *regions)
{
	struct region *region;

	vec_for_each (regions, region)
		region_release(region);
	vec_release(regions);
}

/* A string of the info part; NULL if the offset lies. The part's last byte is checked to be NUL. */
static char *info_string(const struct buf *info, uint32_t offset)
{
	if (offset >= info->len || strlen(info->data + offset) > NAME_MAX_LEN)
		return NULL;
	return strdup(info->data + offset);
}

static bool info_holds(const struct buf *info, uint32_t offset, uint32_t n, size_t size)
{
	return offset <= info->len && n <= COUNT_MAX && (uint64_t)n * size <= info->len - offset;
}

static bool read_sites(const struct buf *info, const struct uspl_region *head,
		       struct region *region)
{
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
		site->name = info_string(info, raw.name);
		if (!site->name)
			return false;
	}
	return true;
}

static bool read_ranges(const struct buf *info, const struct uspl_region *head,
			struct region *region)
{
	if (!info_holds(info, head->ranges, head->n_ranges, sizeof(struct uspl_range)))
		return false;
	for (uint32_t i = 0; i < head->n_ranges; i++) {
		struct region_range *range = vec_push(&region->ranges);
		struct uspl_range raw;

		memcpy(&raw, info->data + head->ranges + i * sizeof(raw), sizeof(raw));
		if (!range)
			return false;
		range->addr = raw.addr;
		range->size = raw.size;
		range->name = info_string(info, raw.name);
		if (!range->name)
			return false;
	}
	return true;
}

/* Everything but the header's identity, which the caller has checked. */
static bool decode(const struct buf *info, const struct uspl_region *head, struct region *region)
{
	region->self = head->self;
	region->map = head->map;
	region->map_len = head->map_len;
	region->info_len = head->info_len;
	region->state = (enum uspl_region_state)head->state;
	region->module = head->module;
	region->applied_at = head->applied_at;
	region->order = head->order;
	region->regions = head->regions;
	region->frames = head->frames == 1;
	region->text = head->text;
	region->text_len = head->text_len;
	region->eh_frame = head->eh_frame;
	region->eh_frame_len = head->eh_frame_len;
	region->data = head->data;
	region->data_len = head->data_len;
	if (!head->id[0] || !memchr(head->id, '\0', sizeof(head->id)) || !head->state ||
	    head->state >= ARRAY_SIZE(states) || info->data[info->len - 1])
		return false;
	memcpy(region->id, head->id, sizeof(region->id));
	region->description = info_string(info, head->description);
	region->module_name = info_string(info, head->module_name);
	region->builds_on = info_string(info, head->builds_on);
	if (!info_holds(info, head->patch, 1, (size_t)head->patch_len + 1))
		return false;
	region->patch = strndup(info->data + head->patch, head->patch_len);
	/* A patch is text: what the target put behind a NUL is not copied. */
	region->patch_len = region->patch ? strlen(region->patch) : 0;
	return region->description && region->module_name && region->patch && region->builds_on &&
	       read_sites(info, head, region) && read_ranges(info, head, region);
}

static int read_region(const struct proc *proc, const struct uspl_region *head,
		       struct region *region, struct uspl_err *err)
{
	auto_buf struct buf info = { 0 };
	int rc;

	buf_addzero(&info, head->info_len);
	if (info.oom)
		return uspl_fail_nomem(err);
	rc = proc_read(proc, head->self, info.data, head->info_len, err);
	if (rc)
		return rc;
	if (!decode(&info, head, region))
		return uspl_fail(err, USPL_E_HOSTILE,
				 "the record of an update at 0x%" PRIx64 " of pid %d is damaged",
				 head->self, proc->pid);
	return 0;
}

/* Looks whether a mapping is a region's info part. Returns 1 and the header if it is, 0 if not. */
static int probe(const struct proc *proc, const struct mapping *map, struct uspl_region *ret,
		 struct uspl_err *err)
{
	if (map->inode || map->path[0] || map->shared || map->write || map->exec || !map->read)
		return 0;
	if (proc_read_some(proc, map->start, ret, sizeof(*ret)) != sizeof(*ret) ||
	    ret->magic != USPL_REGION_MAGIC)
		return 0;
	if (ret->version != USPL_ABI_VERSION) {
		uspl_fail(err, USPL_E_FORMAT,
			  "pid %d holds an update of ABI version %u, this program knows %d",
			  proc->pid, ret->version, USPL_ABI_VERSION);
		uspl_hint(err, "use the version of uspl that applied it");
		return -USPL_E_FORMAT;
	}
	if (ret->self != map->start || ret->info_len > map->end - map->start ||
	    ret->info_len > INFO_MAX || ret->info_len < sizeof(*ret))
		return uspl_fail(err, USPL_E_HOSTILE,
				 "the record of an update at 0x%" PRIx64 " of pid %d is damaged",
				 map->start, proc->pid);
	return 1;
}

static int by_order(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

int regions_read(const struct proc *proc, region_vec *ret, struct uspl_err *err)
{
	region_vec regions = { 0 };
	struct mapping *map;
	int rc = 0;

	vec_for_each (&proc->maps, map) {
		struct uspl_region head;
		struct region *region;

		rc = probe(proc, map, &head, err);
		if (!rc)
			continue;
		if (rc > 0) {
			region = vec_push(&regions);
			rc = region ? read_region(proc, &head, region, err) : uspl_fail_nomem(err);
			if (!rc && regions.n > REGIONS_MAX)
				rc = uspl_fail(err, USPL_E_HOSTILE,
					       "pid %d holds more than %u records of updates",
					       proc->pid, REGIONS_MAX);
		}
		if (rc)
			break;
	}
	if (rc) {
		regions_release(&regions);
		return rc;
	}
	if (regions.n)
		qsort(regions.items, regions.n, sizeof(*regions.items), by_order);
	*ret = regions;
	return 0;
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
		struct uspl_site raw = { .addr = site->addr,
					 .new_addr = site->new_addr,
					 .old_size = site->old_size,
					 .len = site->len };

		raw.name = put_string(buf, start, site->name);
		memcpy(raw.old_bytes, site->old_bytes, sizeof(raw.old_bytes));
		memcpy(raw.new_bytes, site->new_bytes, sizeof(raw.new_bytes));
		buf_add(&raws, &raw, sizeof(raw));
	}
	buf_align(buf, 8);
	head->sites = (uint32_t)(buf->len - start);
	head->n_sites = (uint32_t)region->sites.n;
	buf_add(buf, raws.data, raws.len);
	buf->oom |= raws.oom;
}

static void put_ranges(struct buf *buf, size_t start, const struct region *region,
		       struct uspl_region *head)
{
	const struct region_range *range;
	auto_buf struct buf raws = { 0 };

	vec_for_each (&region->ranges, range) {
		struct uspl_range raw = { .addr = range->addr, .size = range->size };

		raw.name = put_string(buf, start, range->name);
		buf_add(&raws, &raw, sizeof(raw));
	}
	buf_align(buf, 8);
	head->ranges = (uint32_t)(buf->len - start);
	head->n_ranges = (uint32_t)region->ranges.n;
	buf_add(buf, raws.data, raws.len);
	buf->oom |= raws.oom;
}

/* What read_region would refuse must not be written. */
static bool names_fit(const struct region *region)
{
	const struct region_range *range;
	const struct region_site *site;
	bool fit = strlen(region->description ? region->description : "") <= NAME_MAX_LEN &&
		   strlen(region->module_name ? region->module_name : "") <= NAME_MAX_LEN;

	vec_for_each (&region->sites, site)
		fit &= strlen(site->name) <= NAME_MAX_LEN;
	vec_for_each (&region->ranges, range)
		fit &= strlen(range->name) <= NAME_MAX_LEN;
	return fit;
}

int region_encode(const struct region *region, struct buf *buf, struct uspl_err *err)
{
	struct uspl_region head = {
		.magic = USPL_REGION_MAGIC,
		.version = USPL_ABI_VERSION,
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
		.module = region->module,
		.applied_at = region->applied_at,
		.order = region->order,
		.regions = region->regions,
		.frames = region->frames,
		.patch_len = (uint32_t)region->patch_len,
	};
	size_t start = buf->len;

	if (!names_fit(region))
		return uspl_fail(err, USPL_E_UNSUPPORTED, "a name in the update '%s' is too long",
				 region->id);
	if (region->patch_len > INFO_MAX / 2 || region->sites.n > COUNT_MAX ||
	    region->ranges.n > COUNT_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "the update '%s' is too large",
				 region->id);
	memcpy(head.id, region->id, sizeof(head.id));
	buf_addzero(buf, sizeof(head));
	head.description = put_string(buf, start, region->description);
	head.module_name = put_string(buf, start, region->module_name);
	head.builds_on = put_string(buf, start, region->builds_on);
	head.patch = (uint32_t)(buf->len - start);
	buf_add(buf, region->patch, region->patch_len);
	buf_addzero(buf, 1);
	put_sites(buf, start, region, &head);
	put_ranges(buf, start, region, &head);
	/* One byte more, so that the last one is NUL whatever the arrays end with. */
	buf_addzero(buf, 1);
	buf_addzero(buf, (PAGE - (buf->len - start) % PAGE) % PAGE);
	if (buf->oom)
		return uspl_fail_nomem(err);
	head.info_len = buf->len - start;
	memcpy(buf->data + start, &head, sizeof(head));
	return 0;
}

int region_write_state(const struct proc *proc, struct region *region, enum uspl_region_state state,
		       struct uspl_err *err)
{
	uint32_t raw = state;
	int rc = proc_write(proc, region->self + offsetof(struct uspl_region, state), &raw,
			    sizeof(raw), err);

	if (!rc)
		region->state = state;
	return rc;
}

int region_write_applied(const struct proc *proc, struct region *region, int64_t applied_at,
			 uint64_t order, struct uspl_err *err)
{
	struct {
		int64_t applied_at;
		uint64_t order;
	} raw = { applied_at, order };
	int rc;

	_Static_assert(offsetof(struct uspl_region, order) ==
			       offsetof(struct uspl_region, applied_at) + 8,
		       "both are written at once");
	rc = proc_write(proc, region->self + offsetof(struct uspl_region, applied_at), &raw,
			sizeof(raw), err);
	if (!rc) {
		region->applied_at = applied_at;
		region->order = order;
	}
	return rc;
}

int region_write_frames(const struct proc *proc, struct region *region, bool frames,
			struct uspl_err *err)
{
	uint32_t raw = frames;
	int rc = proc_write(proc, region->self + offsetof(struct uspl_region, frames), &raw,
			    sizeof(raw), err);

	if (!rc)
		region->frames = frames;
	return rc;
}
