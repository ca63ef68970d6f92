// SPDX-License-Identifier: GPL-3.0-or-later
// saved.c - a trace in a file: writing and reading it
/*
 * Numbers are little endian, a text is its length (4 bytes) and its bytes. One thing follows the other, each list behind its number of
 * items, so a reader knows at any place what has to come; what it then finds is checked as any text of a stranger's.
 */

#include "tracing/saved.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "tracing/internal.h"
#include "tracing/values.h"

#define MAGIC "uspltrc\n"
#define VERSION 2u
#define TEXT_MAX 65536u
#define RECORD_LEN 40u

static void put_u32(struct buf *out, uint32_t value)
{
	buf_add(out, &value, sizeof(value));
}

static void put_u64(struct buf *out, uint64_t value)
{
	buf_add(out, &value, sizeof(value));
}

/* NULL is written as an empty text. */
static void put_text(struct buf *out, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	put_u32(out, (uint32_t)len);
	buf_add(out, text, len);
}

static void put_head(struct buf *out, const struct trace_saved *saved)
{
	uint64_t rate;

	memcpy(&rate, &saved->ns_per_tick, sizeof(rate));
	buf_add(out, MAGIC, sizeof(MAGIC) - 1);
	put_u32(out, VERSION);
	put_u32(out, USPL_TRACE_ABI_VERSION);
	put_u32(out, (uint32_t)saved->pid);
	put_text(out, saved->comm);
	put_u64(out, rate);
	put_u64(out, saved->overwritten);
	put_u64(out, saved->unseen);
}

static void put_modules(struct buf *out, const module_vec *modules)
{
	const struct module *module;

	put_u32(out, (uint32_t)modules->n);
	vec_for_each (modules, module) {
		put_text(out, module->path);
		put_text(out, module->build_id);
		put_u64(out, module->start);
		put_u64(out, module->end);
		put_u32(out, module->is_main | (unsigned)module->is_vdso << 1);
	}
}

static void put_regions(struct buf *out, const struct trace_session *session)
{
	const struct trace_region *region;

	put_u32(out, (uint32_t)session->regions.n);
	vec_for_each (&session->regions, region) {
		buf_add(out, &region->head, sizeof(region->head));
		buf_add(out, region->sites.items, region->sites.n * sizeof(*region->sites.items));
		put_text(out, region->module_name);
	}
}

static void put_names(struct buf *out, const struct trace_saved *saved)
{
	const struct trace_caller *caller;
	char *const *name;

	put_u32(out, (uint32_t)saved->names.n);
	vec_for_each (&saved->names, name)
		put_text(out, *name);
	put_u32(out, (uint32_t)saved->callers.n);
	vec_for_each (&saved->callers, caller) {
		put_u32(out, caller->low);
		put_text(out, caller->name);
	}
}

static void put_records(struct buf *out, const trace_records *records)
{
	const struct trace_record *record;

	put_u64(out, records->n);
	vec_for_each (records, record) {
		put_u64(out, record->start);
		put_u64(out, record->end);
		put_u32(out, record->id);
		put_u32(out, record->caller);
		put_u32(out, (uint32_t)record->tid);
		put_u32(out, (uint32_t)record->cpu);
		put_u32(out, record->args);
		put_u32(out, record->result);
	}
}

static void put_values(struct buf *out, const struct buf *values)
{
	put_u64(out, values->len);
	buf_add(out, values->data, values->len);
}

int saved_write(const char *path, const struct trace_saved *saved, struct uspl_err *err)
{
	auto_buf struct buf out = { 0 };

	put_head(&out, saved);
	put_modules(&out, &saved->modules);
	put_regions(&out, &saved->session);
	put_names(&out, saved);
	put_values(&out, &saved->values);
	put_records(&out, &saved->records);
	return out.oom ? uspl_fail_nomem(err) : file_write(path, out.data, out.len, err);
}

/* What is left to read. What goes wrong first is kept; from then on everything is 0. */
struct cursor {
	const uint8_t *at, *end;
	const char *name;
	struct uspl_err *err;
	int rc;
};

static void fail(struct cursor *in, enum uspl_code code, const char *why)
{
	if (!in->rc)
		in->rc = uspl_fail(in->err, code, "the trace in '%s' %s", in->name, why);
}

/* len bytes, or NULL. */
static const uint8_t *get(struct cursor *in, uint64_t len)
{
	const uint8_t *at = in->at;

	if (!in->rc && len > (uint64_t)(in->end - in->at))
		fail(in, USPL_E_FILE, "is cut short");
	if (in->rc)
		return NULL;
	in->at += len;
	return at;
}

static uint32_t get_u32(struct cursor *in)
{
	const uint8_t *bytes = get(in, sizeof(uint32_t));
	uint32_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

static uint64_t get_u64(struct cursor *in)
{
	const uint8_t *bytes = get(in, sizeof(uint64_t));
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Allocated; NULL after a failure. */
static char *get_text(struct cursor *in)
{
	uint32_t len = get_u32(in);
	const char *bytes = (const char *)get(in, len);
	char *text;

	if (bytes && (len > TEXT_MAX || !text_is_utf8(bytes, len)))
		fail(in, USPL_E_HOSTILE, "has a text that is none");
	if (in->rc)
		return NULL;
	text = strndup(bytes, len);
	if (!text)
		in->rc = uspl_fail_nomem(in->err);
	return text;
}

/* The same; NULL for an empty one, too. */
static char *get_text_or_none(struct cursor *in)
{
	char *text = get_text(in);

	if (text && text[0])
		return text;
	free(text);
	return NULL;
}

/* The place for the next item of a list. */
#define get_place(in, vec)                                                                         \
	({                                                                                         \
		__typeof__((vec)->items) place_ = (in)->rc ? NULL : vec_push(vec);                 \
		if (!place_ && !(in)->rc)                                                          \
			(in)->rc = uspl_fail_nomem((in)->err);                                     \
		place_;                                                                            \
	})

static void get_head(struct cursor *in, struct trace_saved *saved)
{
	const uint8_t *magic = get(in, sizeof(MAGIC) - 1);
	uint64_t rate;
	auto_free char *comm = NULL;

	if (!magic || memcmp(magic, MAGIC, sizeof(MAGIC) - 1) != 0) {
		in->rc = uspl_fail(in->err, USPL_E_FILE, "'%s' is no saved trace", in->name);
		return;
	}
	if (get_u32(in) != VERSION || get_u32(in) != USPL_TRACE_ABI_VERSION)
		fail(in, USPL_E_FORMAT, "was saved by another version of uspl");
	saved->pid = (pid_t)get_u32(in);
	comm = get_text(in);
	snprintf(saved->comm, sizeof(saved->comm), "%s", comm ? comm : "");
	rate = get_u64(in);
	memcpy(&saved->ns_per_tick, &rate, sizeof(rate));
	saved->overwritten = get_u64(in);
	saved->unseen = get_u64(in);
	if (!(saved->ns_per_tick >= 0 && saved->ns_per_tick < 1e6))
		fail(in, USPL_E_HOSTILE, "has a clock that doesn't go");
}

static void get_modules(struct cursor *in, module_vec *modules)
{
	uint32_t n = get_u32(in), flags;

	for (uint32_t i = 0; i < n && !in->rc; i++) {
		struct module *module = get_place(in, modules);

		if (!module)
			return;
		module->path = get_text(in);
		module->name = module->path ? file_basename(module->path) : "";
		module->build_id = get_text_or_none(in);
		module->start = get_u64(in);
		module->end = get_u64(in);
		flags = get_u32(in);
		module->is_main = flags & 1;
		module->is_vdso = flags & 2;
	}
}

static void get_region(struct cursor *in, struct trace_session *session)
{
	struct trace_region *region = get_place(in, &session->regions);
	const uint8_t *head = get(in, sizeof(region->head)), *sites;

	if (!head || !region)
		return;
	memcpy(&region->head, head, sizeof(region->head));
	if (region->head.magic != USPL_TRACE_MAGIC || !region->head.first_id ||
	    region->head.version != USPL_TRACE_ABI_VERSION)
		fail(in, USPL_E_HOSTILE, "is damaged");
	sites = get(in, (uint64_t)region->head.n_sites * sizeof(*region->sites.items));
	for (uint32_t i = 0; sites && i < region->head.n_sites; i++) {
		struct uspl_trace_site *site = get_place(in, &region->sites);

		if (site)
			memcpy(site, sites + i * sizeof(*site), sizeof(*site));
	}
	region->module_name = get_text(in);
}

static void get_names(struct cursor *in, struct trace_saved *saved)
{
	uint32_t n = get_u32(in);

	for (uint32_t i = 0; i < n && !in->rc; i++) {
		char **place = get_place(in, &saved->names);

		if (place)
			*place = get_text_or_none(in);
	}
	n = get_u32(in);
	for (uint32_t i = 0; i < n && !in->rc; i++) {
		struct trace_caller *caller = get_place(in, &saved->callers);

		if (!caller)
			return;
		caller->low = get_u32(in);
		caller->name = get_text(in);
		if (i && caller->low <= caller[-1].low)
			fail(in, USPL_E_HOSTILE, "is damaged");
	}
}

static void get_values(struct cursor *in, struct buf *values)
{
	uint64_t len = get_u64(in);
	const uint8_t *bytes = get(in, len);

	if (!bytes)
		return;
	buf_add(values, bytes, len);
	if (values->oom)
		in->rc = uspl_fail_nomem(in->err);
}

static void get_records(struct cursor *in, struct trace_saved *saved)
{
	uint64_t n = get_u64(in);

	if (!in->rc && n > (uint64_t)(in->end - in->at) / RECORD_LEN)
		fail(in, USPL_E_FILE, "is cut short");
	for (uint64_t i = 0; i < n && !in->rc; i++) {
		struct trace_record *record = get_place(in, &saved->records);

		if (!record)
			return;
		record->start = get_u64(in);
		record->end = get_u64(in);
		record->id = get_u32(in);
		record->caller = get_u32(in);
		record->tid = (pid_t)get_u32(in);
		record->cpu = (int32_t)get_u32(in);
		record->args = get_u32(in);
		record->result = get_u32(in);
		if (!record->id || record->id > saved->names.n ||
		    (record->end && record->end < record->start) ||
		    !values_are_sound(&saved->values, record->args) ||
		    !values_are_sound(&saved->values, record->result))
			fail(in, USPL_E_HOSTILE, "is damaged");
	}
	if (!in->rc && in->at != in->end)
		fail(in, USPL_E_HOSTILE, "goes on behind its end");
}

/* The parts of a trace have one id after the other, and there are names for all. */
static void check_ids(struct cursor *in, const struct trace_saved *saved)
{
	const struct trace_region *region;
	uint64_t next = 1;

	if (!in->rc && (!saved->session.regions.n || !saved->modules.n ||
			saved->session.regions.n > USPL_TRACE_ARENAS))
		fail(in, USPL_E_HOSTILE, "is damaged");
	vec_for_each (&saved->session.regions, region) {
		if (region->head.first_id != next)
			fail(in, USPL_E_HOSTILE, "is damaged");
		next += region->sites.n;
	}
	if (saved->names.n != next - 1)
		fail(in, USPL_E_HOSTILE, "is damaged");
}

int saved_parse(const void *bytes, size_t len, const char *name, struct trace_saved *ret,
		struct uspl_err *err)
{
	struct cursor in = {
		.at = bytes, .end = (const uint8_t *)bytes + len, .name = name, .err = err
	};
	auto_saved struct trace_saved saved = { 0 };
	uint32_t regions;

	get_head(&in, &saved);
	get_modules(&in, &saved.modules);
	regions = get_u32(&in);
	for (uint32_t i = 0; i < regions && !in.rc; i++)
		get_region(&in, &saved.session);
	get_names(&in, &saved);
	check_ids(&in, &saved);
	get_values(&in, &saved.values);
	get_records(&in, &saved);
	if (in.rc)
		return in.rc;
	*ret = saved;
	saved = (struct trace_saved){ 0 };
	return 0;
}

int saved_read(const char *path, struct trace_saved *ret, struct uspl_err *err)
{
	auto_buf struct buf bytes = { 0 };
	int rc = file_read(path, &bytes, err);

	return rc ? rc : saved_parse(buf_str(&bytes), bytes.len, path, ret, err);
}

void saved_release(struct trace_saved *saved)
{
	struct trace_caller *caller;
	char **name;

	modules_release(&saved->modules);
	session_release(&saved->session);
	vec_for_each (&saved->names, name)
		free(*name);
	vec_for_each (&saved->callers, caller)
		free(caller->name);
	vec_release(&saved->names);
	vec_release(&saved->callers);
	vec_release(&saved->records);
	buf_release(&saved->values);
}
