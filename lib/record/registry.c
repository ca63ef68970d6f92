// SPDX-License-Identifier: GPL-3.0-or-later
// registry.c - the records that uspl has in a process: all kinds, found and checked in one way

#include "record/registry.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define TRACE_INFO_MAX (256u << 20)
#define PROBES_INFO_MAX (64u << 20)
/* No region is larger. */
#define PARTIAL_MAX (1ull << 32)
/* More and larger ones than a session of any version has made. */
#define RINGS_MAX 65536u
#define RING_MAX (4ull << 30)

static bool update_is_sound(const struct proc *proc, const struct record *record)
{
	const struct uspl_region *head = &record->head.update;
	const struct mapping *map = record->map;

	(void)proc;
	return head->self == map->start && head->info_len <= map->end - map->start &&
	       head->info_len <= REGION_INFO_MAX && head->info_len >= sizeof(*head);
}

/*
 * The rings are as many and as large as there can be, and lie in one mapping of the process, if
 * they are mapped at all (a child of fork doesn't have them).
 */
static bool rings_are_sound(const struct proc *proc, const struct uspl_trace_region *head)
{
	const struct mapping *map = proc_mapping_at(proc, head->rings);

	if ((head->ring_mask & (head->ring_mask + 1)) || head->ring_mask < USPL_TRACE_RECORD ||
	    head->ring_mask >= head->ring_bytes || head->ring_bytes > RING_MAX ||
	    head->n_rings > RINGS_MAX)
		return false;
	return !map || head->n_rings * head->ring_bytes <= map->end - head->rings;
}

static bool trace_is_sound(const struct proc *proc, const struct record *record)
{
	const struct uspl_trace_region *head = &record->head.trace;
	const struct mapping *map = record->map;
	uint64_t sites = head->sites + (uint64_t)head->n_sites * sizeof(struct uspl_trace_site);

	return head->info_len <= map->end - map->start && head->info_len <= TRACE_INFO_MAX &&
	       sites <= head->info_len && head->module_name < head->info_len && head->first_id &&
	       rings_are_sound(proc, head);
}

static bool probes_are_sound(const struct proc *proc, const struct record *record)
{
	const struct uspl_mark_region *head = &record->head.probes;
	const struct mapping *map = record->map;
	uint64_t probes = head->probes + (uint64_t)head->n_probes * sizeof(struct uspl_probe);
	uint64_t switches =
		head->switches + (uint64_t)head->n_switches * sizeof(struct uspl_mark_switch);

	return head->info_len <= map->end - map->start && head->info_len <= PROBES_INFO_MAX &&
	       probes <= head->info_len && switches <= head->info_len && head->first_id &&
	       memchr(head->session, '\0', sizeof(head->session)) &&
	       rings_are_sound(proc, &head->shared);
}

/* All that a mark describes lies in its block, of which it is the second page. */
static bool shared_is_sound(const struct proc *proc, const struct record *record)
{
	const struct uspl_trace_shared_map *mark = &record->head.shared;
	taddr own = record->map->start + PAGE;

	(void)proc;
	return mark->map == own - 2 * PAGE && mark->map_len >= 3 * PAGE &&
	       (!mark->absent || (mark->absent > mark->alive && mark->alive > own &&
				  mark->absent - mark->map < mark->map_len)) &&
	       (!mark->chunks || (mark->chunks >= own && mark->chunks - mark->map < mark->map_len));
}

/*
 * The mark lies in the memory that it describes, and all of that is of the kind that a region is
 * made of.
 */
static bool partial_is_sound(const struct proc *proc, const struct record *record)
{
	const struct uspl_partial *mark = &record->head.partial;
	taddr at = mark->map, end = mark->map + mark->map_len;

	if (at >= record->map->start || end <= record->map->start || mark->map_len > PARTIAL_MAX)
		return false;
	while (at < end) {
		const struct mapping *map = proc_mapping_at(proc, at);

		if (!map || !mapping_is_nameless(map))
			return false;
		at = map->end;
	}
	return true;
}

/*
 * The head of a record tells the version and its own address. A mark has neither, and a mark that
 * isn't sound is none.
 */
static const struct kind {
	uint64_t magic;
	size_t len, oldest_len; /* of the head; oldest_len: in the oldest version that is read */
	bool (*is_sound)(const struct proc *proc, const struct record *record);
	const char *what; /* "the record of ..."; NULL: a mark */
	const char *did;  /* "the version of uspl that ..." */
	size_t version_at, self_at;
	uint32_t version, oldest;
	bool may_stray; /* a head that says it lies elsewhere is no record */
} kinds[] = {
	[RECORD_UPDATE] = { USPL_REGION_MAGIC, sizeof(struct uspl_region), USPL_REGION_LEN_READ,
			    update_is_sound, "an update", "applied it",
			    offsetof(struct uspl_region, version),
			    offsetof(struct uspl_region, self), USPL_ABI_VERSION_BY_THREAD,
			    USPL_ABI_VERSION_READ, false },
	[RECORD_TRACE] = { USPL_TRACE_MAGIC, sizeof(struct uspl_trace_region), 0, trace_is_sound,
			   "a trace", "started it", offsetof(struct uspl_trace_region, version),
			   offsetof(struct uspl_trace_region, self), USPL_TRACE_ABI_VERSION,
			   USPL_TRACE_ABI_VERSION, true },
	[RECORD_PROBES] = { USPL_MARK_MAGIC, sizeof(struct uspl_mark_region), 0, probes_are_sound,
			    "markers", "switched them on",
			    offsetof(struct uspl_mark_region, version),
			    offsetof(struct uspl_mark_region, self), USPL_MARK_VERSION,
			    USPL_MARK_VERSION, true },
	[RECORD_SHARED] = { USPL_TRACE_SHARED_MAP_MAGIC, sizeof(struct uspl_trace_shared_map), 0,
			    shared_is_sound, NULL, NULL, 0, 0, 0, 0, true },
	[RECORD_PARTIAL] = { USPL_PARTIAL_MAGIC, sizeof(struct uspl_partial), 0, partial_is_sound,
			     NULL, NULL, 0, 0, 0, 0, true },
};

int registry_fail_damaged(const struct proc *proc, enum record_kind kind, taddr at,
			  struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_HOSTILE,
			 "the record of %s at 0x%" PRIx64 " of pid %d is damaged", kinds[kind].what,
			 at, proc->pid);
}

void registry_begin(struct registry *registry, const struct proc *proc, enum record_kind kind)
{
	*registry = (struct registry){
		.proc = proc,
		.kind = kind,
		.heads = { .proc = proc, .magic = kinds[kind].magic },
	};
	proc_work_begin(proc);
}

/* 1 if it is a record of the kind, 0 if it is none. What its version doesn't have yet is 0 then. */
static int check(const struct registry *registry, struct record *record, struct uspl_err *err)
{
	const struct kind *kind = &kinds[registry->kind];
	uint8_t *head = (uint8_t *)&record->head;
	uint32_t version;
	taddr self;

	if (record->head.magic != kind->magic)
		return 0;
	if (!kind->what)
		return kind->is_sound(registry->proc, record);
	memcpy(&version, head + kind->version_at, sizeof(version));
	memcpy(&self, head + kind->self_at, sizeof(self));
	if (kind->may_stray && self != record->map->start)
		return 0;
	if (version < kind->oldest || version > kind->version) {
		uspl_fail(err, USPL_E_FORMAT,
			  "pid %d holds %s of ABI version %u, this program knows %u",
			  registry->proc->pid, kind->what, version, kind->version);
		uspl_hint(err, "use the version of uspl that %s", kind->did);
		return -USPL_E_FORMAT;
	}
	if (version == kind->oldest && kind->oldest_len)
		memset(head + kind->oldest_len, 0, kind->len - kind->oldest_len);
	return kind->is_sound(registry->proc, record)
		       ? 1
		       : registry_fail_damaged(registry->proc, registry->kind, record->map->start,
					       err);
}

int registry_next(struct registry *registry, struct record *ret, struct uspl_err *err)
{
	const struct kind *kind = &kinds[registry->kind];
	const struct proc *proc = registry->proc;

	while ((ret->map = heads_next(&registry->heads))) {
		bool there = false;
		int rc = proc_charge(proc, 1, 0, err);

		if (!rc)
			rc = proc_read_once(proc, ret->map->start, &ret->head, kind->len, &there,
					    kind->what ? err : NULL);
		if (rc && !kind->what && rc != -USPL_E_HOSTILE)
			continue;
		if (!rc && there)
			rc = check(registry, ret, err);
		if (rc)
			return rc;
	}
	/* If the process took too much, not all mappings were looked at. */
	return proc_charge(proc, 0, 0, err);
}

int registry_read(const struct proc *proc, const struct record *record, uint64_t offset, void *buf,
		  size_t len, struct uspl_err *err)
{
	bool there;
	int rc = proc_read_once(proc, record->map->start + offset, buf, len, &there, err);

	return rc || there ? rc : proc_read(proc, record->map->start + offset, buf, len, err);
}
