// SPDX-License-Identifier: GPL-3.0-or-later
// saved.c - a trace in a file: writing and reading it
/*
 * One thing follows the other, each list behind its number of items, so a reader knows at any place
 * what has to come; what it then finds is checked like any input from outside.
 */

#include "trace/log/saved.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "trace/log/saved_marks.h"
#include "trace/log/values.h"
#include "trace/log/zst.h"

#define MAGIC "uspltrc\n"
#define MAGIC_LEN (sizeof(MAGIC) - 1)
/* Of a file: a larger one isn't read, since what it holds would be in memory. */
#define SAVED_MAX (4ull << 30)
#define VERSION 7u
#define VERSION_WITHOUT_KERNEL 6u /* the same without the last part, for older readers, too */
#define RECORD_LEN 44u
#define CUT 0x100u /* or'ed to how a call has ended */

static void put_head(struct buf *out, const struct trace_saved *saved)
{
	uint64_t rate;

	memcpy(&rate, &saved->ns_per_tick, sizeof(rate));
	buf_add(out, MAGIC, MAGIC_LEN);
	saved_put_u32(out, saved->kernel.kinds ? VERSION : VERSION_WITHOUT_KERNEL);
	saved_put_u32(out, USPL_TRACE_ABI_VERSION);
	saved_put_u32(out, (uint32_t)saved->pid);
	saved_put_text(out, saved->comm);
	saved_put_u64(out, rate);
	saved_put_u64(out, saved->start_ticks);
	saved_put_u64(out, saved->overwritten);
	saved_put_u64(out, saved->unseen);
	saved_put_u64(out, saved->unsure);
}

static void put_names(struct buf *out, const struct trace_saved *saved)
{
	const struct trace_caller *caller;
	char *const *name;

	saved_put_u32(out, (uint32_t)saved->names.n);
	vec_for_each (&saved->names, name)
		saved_put_text(out, *name);
	saved_put_u32(out, (uint32_t)saved->lines.n);
	vec_for_each (&saved->lines, name)
		saved_put_text(out, *name);
	saved_put_u32(out, (uint32_t)saved->callers.n);
	vec_for_each (&saved->callers, caller) {
		saved_put_u32(out, caller->low);
		saved_put_text(out, caller->name);
	}
}

void saved_put_record(struct buf *out, const struct trace_record *record)
{
	saved_put_u64(out, record->start);
	saved_put_u64(out, record->end);
	saved_put_u32(out, record->id);
	saved_put_u32(out, record->caller);
	saved_put_u32(out, (uint32_t)record->tid);
	saved_put_u32(out, (uint32_t)record->cpu);
	saved_put_u32(out, record->args);
	saved_put_u32(out, record->result);
	saved_put_u32(out, record->how | (record->cut ? CUT : 0));
}

void saved_put_front(struct buf *out, const struct trace_saved *saved)
{
	const struct trace_region *region;
	const struct module *module;

	put_head(out, saved);
	saved_put_u32(out, (uint32_t)saved->modules.n);
	vec_for_each (&saved->modules, module) {
		saved_put_text(out, module->path);
		saved_put_text(out, module->build_id);
		saved_put_u64(out, module->start);
		saved_put_u64(out, module->end);
		saved_put_u32(out, module->is_main | (unsigned)module->is_vdso << 1);
	}
	saved_put_u32(out, (uint32_t)saved->session.regions.n);
	vec_for_each (&saved->session.regions, region) {
		buf_add(out, &region->head, sizeof(region->head));
		buf_add(out, region->sites.items, region->sites.n * sizeof(*region->sites.items));
		saved_put_text(out, region->module_name);
	}
	put_names(out, saved);
}

void saved_put_back(struct buf *out, const struct trace_saved *saved, uint64_t n)
{
	saved_put_marks(out, &saved->marks);
	thread_names_put(out, &saved->threads);
	if (saved->kernel.kinds)
		kernel_log_put_head(out, &saved->kernel, n);
}

static void put_all(struct buf *out, const struct trace_saved *saved)
{
	const struct trace_record *record;
	const struct kernel_event *event;

	saved_put_front(out, saved);
	saved_put_u64(out, saved->values.len);
	buf_add(out, saved->values.data, saved->values.len);
	saved_put_u64(out, saved->records.n);
	vec_for_each (&saved->records, record)
		saved_put_record(out, record);
	saved_put_back(out, saved, saved->kernel.events.n);
	vec_for_each (&saved->kernel.events, event)
		kernel_event_put(out, event);
}

int saved_write_fd(int fd, const struct trace_saved *saved, struct uspl_err *err)
{
	auto_buf struct buf out = { 0 };

	put_all(&out, saved);
	if (out.oom)
		return uspl_fail_nomem(err);
	return file_write_all(fd, out.data, out.len) == 0
		       ? 0
		       : uspl_fail_errno(err, "cannot write what was recorded");
}

int saved_write(const char *path, const struct trace_saved *saved, struct uspl_err *err)
{
	auto_buf struct buf out = { 0 }, packed = { 0 };
	int rc;

	put_all(&out, saved);
	if (out.oom)
		return uspl_fail_nomem(err);
	if (zst_is_name(path)) {
		rc = zst_pack(out.data, out.len, &packed, err);
		if (rc)
			return rc;
		return file_write(path, packed.data, packed.len, err);
	}
	return file_write(path, out.data, out.len, err);
}

/* *ret_version: of the form, one that is known. */
static void get_head(struct saved_cursor *in, struct trace_saved *saved, uint32_t *ret_version)
{
	const uint8_t *magic = saved_get(in, MAGIC_LEN);
	uint64_t rate;
	auto_free char *comm = NULL;

	if (!magic || memcmp(magic, MAGIC, MAGIC_LEN) != 0) {
		in->rc = uspl_fail(in->err, USPL_E_FILE, "'%s' is no saved trace", in->name);
		return;
	}
	*ret_version = saved_get_u32(in);
	if ((*ret_version != VERSION && *ret_version != VERSION_WITHOUT_KERNEL) ||
	    saved_get_u32(in) != USPL_TRACE_ABI_VERSION)
		saved_fail(in, USPL_E_FORMAT, "was saved by another version of uspl");
	saved->pid = (pid_t)saved_get_u32(in);
	comm = saved_get_text(in);
	snprintf(saved->comm, sizeof(saved->comm), "%s", comm ? comm : "");
	rate = saved_get_u64(in);
	memcpy(&saved->ns_per_tick, &rate, sizeof(rate));
	saved->start_ticks = saved_get_u64(in);
	saved->overwritten = saved_get_u64(in);
	saved->unseen = saved_get_u64(in);
	saved->unsure = saved_get_u64(in);
	if (!(saved->ns_per_tick >= 0 && saved->ns_per_tick < 1e6))
		saved_fail(in, USPL_E_HOSTILE, "has a clock that doesn't go");
}

static void get_modules(struct saved_cursor *in, module_vec *modules)
{
	uint32_t n = saved_get_u32(in), flags;

	for (uint32_t i = 0; i < n && !in->rc; i++) {
		struct module *module = saved_get_place(in, modules);

		if (!module)
			return;
		module->path = saved_get_text(in);
		module->name = module->path ? file_basename(module->path) : "";
		module->build_id = saved_get_text_or_none(in);
		module->start = saved_get_u64(in);
		module->end = saved_get_u64(in);
		flags = saved_get_u32(in);
		module->is_main = flags & 1;
		module->is_vdso = flags & 2;
	}
}

static void get_regions(struct saved_cursor *in, struct trace_session *session)
{
	uint32_t n = saved_get_u32(in);

	for (uint32_t i = 0; i < n && !in->rc; i++) {
		struct trace_region *region = saved_get_place(in, &session->regions);
		const uint8_t *head = saved_get(in, sizeof(region->head)), *sites;

		if (!head || !region)
			return;
		memcpy(&region->head, head, sizeof(region->head));
		if (region->head.magic != USPL_TRACE_MAGIC || !region->head.first_id ||
		    region->head.version != USPL_TRACE_ABI_VERSION)
			saved_fail(in, USPL_E_HOSTILE, "is damaged");
		sites = saved_get(in,
				  (uint64_t)region->head.n_sites * sizeof(*region->sites.items));
		for (uint32_t k = 0; sites && k < region->head.n_sites; k++) {
			struct uspl_trace_site *site = saved_get_place(in, &region->sites);

			if (site)
				memcpy(site, sites + k * sizeof(*site), sizeof(*site));
		}
		region->module_name = saved_get_text(in);
	}
}

static void get_strings(struct saved_cursor *in, strvec *strings)
{
	uint32_t n = saved_get_u32(in);

	for (uint32_t i = 0; i < n && !in->rc; i++) {
		char **place = saved_get_place(in, strings);

		if (place)
			*place = saved_get_text_or_none(in);
	}
}

static void get_names(struct saved_cursor *in, struct trace_saved *saved)
{
	uint32_t n;

	get_strings(in, &saved->names);
	get_strings(in, &saved->lines);
	n = saved_get_u32(in);
	for (uint32_t i = 0; i < n && !in->rc; i++) {
		struct trace_caller *caller = saved_get_place(in, &saved->callers);

		if (!caller)
			return;
		caller->low = saved_get_u32(in);
		caller->name = saved_get_text(in);
		if (i && caller->low <= caller[-1].low)
			saved_fail(in, USPL_E_HOSTILE, "is damaged");
	}
}

static void get_records(struct saved_cursor *in, struct trace_saved *saved)
{
	uint64_t n = saved_get_u64(in);
	uint32_t how;

	if (!in->rc && n > saved_left(in) / RECORD_LEN)
		saved_fail(in, USPL_E_FILE, "is cut short");
	for (uint64_t i = 0; i < n && !in->rc; i++) {
		struct trace_record *record = saved_get_place(in, &saved->records);

		if (!record)
			return;
		record->start = saved_get_u64(in);
		record->end = saved_get_u64(in);
		record->id = saved_get_u32(in);
		record->caller = saved_get_u32(in);
		record->tid = (pid_t)saved_get_u32(in);
		record->cpu = (int32_t)saved_get_u32(in);
		record->args = saved_get_u32(in);
		record->result = saved_get_u32(in);
		how = saved_get_u32(in);
		record->cut = how & CUT;
		record->how = how & ~CUT;
		if (how & ~CUT & ~3u || record->how > TRACE_OPEN || !record->id ||
		    record->id > saved->names.n || (record->end && record->end < record->start) ||
		    !values_are_sound(&saved->values, record->args) ||
		    !values_are_sound(&saved->values, record->result))
			saved_fail(in, USPL_E_HOSTILE, "is damaged");
	}
}

/* The parts of a trace have one id after the other, and there are names for all. */
static void check_ids(struct saved_cursor *in, const struct trace_saved *saved)
{
	const struct trace_region *region;
	uint64_t next = 1;

	if (!in->rc && (!saved->modules.n || saved->session.regions.n > USPL_TRACE_ARENAS))
		saved_fail(in, USPL_E_HOSTILE, "is damaged");
	vec_for_each (&saved->session.regions, region) {
		if (region->head.first_id != next)
			saved_fail(in, USPL_E_HOSTILE, "is damaged");
		next += region->sites.n;
	}
	if (saved->names.n != next - 1)
		saved_fail(in, USPL_E_HOSTILE, "is damaged");
}

static int parse(struct saved_cursor *in, struct trace_saved *ret)
{
	auto_saved struct trace_saved saved = { 0 };
	const uint8_t *bytes;
	uint32_t version = 0;
	uint64_t len;

	get_head(in, &saved, &version);
	get_modules(in, &saved.modules);
	get_regions(in, &saved.session);
	get_names(in, &saved);
	check_ids(in, &saved);
	len = saved_get_u64(in);
	bytes = saved_get(in, len);
	if (bytes)
		buf_add(&saved.values, bytes, len);
	if (saved.values.oom)
		in->rc = uspl_fail_nomem(in->err);
	get_records(in, &saved);
	saved_get_marks(in, &saved.marks);
	thread_names_get(in, &saved.threads);
	if (!in->rc && version == VERSION)
		kernel_log_get(in, &saved.kernel);
	/*
	 * Nothing is left, and there was something: functions, or markers without the kernel's
	 * events.
	 */
	if (!in->rc && saved_left(in))
		saved_fail(in, USPL_E_HOSTILE, "goes on behind its end");
	if (!in->rc && !saved.session.regions.n && (!saved.marks.n || saved.kernel.kinds))
		saved_fail(in, USPL_E_HOSTILE, "is damaged");
	if (in->rc)
		return in->rc;
	*ret = saved;
	saved = (struct trace_saved){ 0 };
	return 0;
}

int saved_parse(const void *bytes, size_t len, const char *name, struct trace_saved *ret,
		struct uspl_err *err)
{
	struct saved_cursor in = {
		.at = bytes, .end = (const uint8_t *)bytes + len, .name = name, .err = err
	};

	return parse(&in, ret);
}

void saved_parse_head(const void *bytes, size_t len, struct trace_saved *ret)
{
	struct saved_cursor in = { .at = bytes, .end = (const uint8_t *)bytes + len, .name = "" };
	uint32_t version = 0;

	get_head(&in, ret, &version);
	get_modules(&in, &ret->modules);
	get_regions(&in, &ret->session);
	if (in.rc && ret->session.regions.n)
		ret->session.regions.n--;
}

static int fail_large(const char *path, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_FILE, "'%s' is larger than %llu GiB", path, SAVED_MAX >> 30);
}

/*
 * All of a pipe, of which it isn't known how much will come, or of a packed file. What begins as no
 * trace does isn't read on.
 */
static int read_whole(int fd, const char *path, struct buf *ret, struct uspl_err *err)
{
	ssize_t got;

	while (ret->len <= SAVED_MAX && (got = buf_add_read(ret, fd)) > 0)
		if (ret->len >= MAGIC_LEN && memcmp(ret->data, MAGIC, MAGIC_LEN) != 0 &&
		    !zst_is_frame(ret->data, ret->len))
			return uspl_fail(err, USPL_E_FILE, "'%s' is no saved trace", path);
	if (ret->oom)
		return uspl_fail_nomem(err);
	if (ret->len > SAVED_MAX)
		return fail_large(path, err);
	return got < 0 ? uspl_fail_errno(err, "cannot read '%s'", path) : 0;
}

int saved_read(const char *path, struct trace_saved *ret, struct uspl_err *err)
{
	struct saved_cursor in = { .name = path, .err = err };
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	auto_buf struct buf bytes = { 0 }, unpacked = { 0 };
	struct stat st;
	char begin[4];
	int rc;

	if (fd < 0 || fstat(fd, &st) < 0)
		return uspl_fail_errno(err, "cannot open '%s'", path);
	if ((uint64_t)st.st_size > SAVED_MAX)
		return fail_large(path, err);
	if (S_ISREG(st.st_mode) && (pread(fd, begin, sizeof(begin), 0) != sizeof(begin) ||
				    !zst_is_frame(begin, sizeof(begin)))) {
		saved_cursor_open(&in, fd, (uint64_t)st.st_size);
		rc = parse(&in, ret);
		saved_cursor_close(&in);
		return rc;
	}
	rc = read_whole(fd, path, &bytes, err);
	if (rc)
		return rc;
	if (!zst_is_frame(bytes.data, bytes.len))
		return saved_parse(buf_str(&bytes), bytes.len, path, ret, err);
	rc = zst_unpack(path, bytes.data, bytes.len, &unpacked, err);
	buf_release(&bytes);
	if (rc)
		return rc;
	return saved_parse(buf_str(&unpacked), unpacked.len, path, ret, err);
}

void saved_release(struct trace_saved *saved)
{
	struct trace_caller *caller;

	modules_release(&saved->modules);
	trace_session_release(&saved->session);
	vec_for_each (&saved->callers, caller)
		free(caller->name);
	strvec_release(&saved->names);
	strvec_release(&saved->lines);
	vec_release(&saved->callers);
	vec_release(&saved->records);
	mark_lines_release(&saved->marks);
	thread_names_release(&saved->threads);
	vec_release(&saved->kernel.events);
	buf_release(&saved->values);
}
