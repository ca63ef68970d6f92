// SPDX-License-Identifier: GPL-3.0-or-later
// saved_test.c - a trace in a file: what is written is read, and nothing that was tampered with is
// believed

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tap.h"
#include "tests/unit/saved_sample.h"
#include "trace/log/values.h"

/* How many arguments record i has; SIZE_MAX if one of them lies outside the texts. */
static size_t count_args(const struct trace_saved *saved, size_t i)
{
	uint32_t offset = saved->records.items[i].args;
	const char *at = offset ? saved->values.data + offset : "";
	struct value value;
	size_t n = 0;

	for (; value_next(&at, &value); n++)
		if (at >= saved->values.data + saved->values.len)
			return SIZE_MAX;
	return n;
}

/* What the sample's second hit of a marker has become. */
static bool is_second_mark(const struct mark_line *line)
{
	return line->time == 1250 && line->tid == 8 && !strcmp(line->name, sample_mark) &&
	       !strcmp(line->module, sample_name) && !strcmp(line->message, sample_message) &&
	       line->n_values == 3 && (int64_t)line->values[0].word == -5 &&
	       !strcmp(line->values[1].text, sample_string) && line->values[2].real > 2.4 &&
	       line->values[2].real < 2.6;
}

static void test_round(const char *path, struct buf *bytes)
{
	const struct trace_saved saved = sample_saved();
	auto_saved struct trace_saved back = { 0 };
	struct uspl_err err = { 0 };

	ok(saved_write(path, &saved, &err) == 0, "written %s", err.msg);
	ok(saved_read(path, &back, &err) == 0, "read %s", err.msg);
	ok(back.pid == 7 && back.ns_per_tick == 0.25 && back.overwritten == 5 && back.unseen == 6 &&
		   back.unsure == 4,
	   "the head");
	ok_str(back.comm, "app", "the command");
	ok(back.modules.n == 1 && !strcmp(back.modules.items[0].path, "/srv/app") &&
		   !strcmp(back.modules.items[0].name, "app") &&
		   !strcmp(back.modules.items[0].build_id, "ab12") && back.modules.items[0].is_main,
	   "the module");
	ok(back.names.n == SAMPLE_SITES && !strcmp(back.names.items[0], "alpha") &&
		   !back.names.items[1],
	   "names, and none");
	ok(back.lines.n == SAMPLE_SITES && !strcmp(back.lines.items[0], "alpha.c:12") &&
		   !back.lines.items[1],
	   "places in the source, and none");
	ok(back.session.regions.n == 1 && !memcmp(back.session.regions.items[0].sites.items,
						  sample_sites, sizeof(sample_sites)),
	   "sites");
	ok(back.records.n == 3 &&
		   !memcmp(back.records.items, sample_records, sizeof(sample_records)),
	   "records");
	ok(back.values.len == sizeof(sample_values) && count_args(&back, 0) == 2 &&
		   count_args(&back, 1) == 0,
	   "values of the first call, and none of the second");
	ok(back.marks.n == 2 && !back.marks.items[0].message[0] &&
		   is_second_mark(&back.marks.items[1]) && back.start_ticks == 800,
	   "hits of markers");
	ok(back.kernel.kinds == KERNEL_ALL && back.kernel.lost == 3 &&
		   back.kernel.events.n == ARRAY_SIZE(sample_events) &&
		   !memcmp(back.kernel.events.items, sample_events, sizeof(sample_events)),
	   "what the kernel has told");
	ok(callers_find(&back.callers, 0x1105) && !callers_find(&back.callers, 0x1106), "callers");
	ok(file_read(path, bytes, &err) == 0, "the bytes");
}

/* Every beginning of the file but the whole. */
static void test_cut(const struct buf *bytes)
{
	size_t refused = 0;

	for (size_t len = 0; len < bytes->len; len++) {
		auto_free char *copy = malloc(len + 1);
		auto_saved struct trace_saved back = { 0 };
		struct uspl_err err = { 0 };

		/* Its own memory, so that a sanitizer sees what reads beyond it. */
		memcpy(copy, bytes->data, len);
		if (saved_parse(copy, len, "cut", &back, &err) == -(int)USPL_E_FILE && err.msg[0])
			refused++;
	}
	ok(refused == bytes->len, "cut short at each of %zu places, refused %zu times", bytes->len,
	   refused);
}

/* Every byte changed: read or refused, and then nothing that leads astray. */
static void test_changed(struct buf *bytes)
{
	size_t refused = 0, bad = 0;

	for (size_t i = 0; i < bytes->len * 8; i++) {
		auto_saved struct trace_saved back = { 0 };
		struct uspl_err err = { 0 };
		const struct trace_record *record;
		const struct mark_line *line;
		const struct kernel_event *event;

		bytes->data[i / 8] ^= (char)(1 << i % 8);
		if (saved_parse(bytes->data, bytes->len, "changed", &back, &err))
			refused++;
		vec_for_each (&back.records, record)
			bad += !record->id || record->id > back.names.n ||
			       (record->end && record->end < record->start) ||
			       count_args(&back, (size_t)(record - back.records.items)) == SIZE_MAX;
		vec_for_each (&back.marks, line)
			bad += !line->name || !line->module || !line->message ||
			       line->n_values > USPL_PROBE_ARGS_MAX ||
			       (line != back.marks.items && line->time < line[-1].time);
		vec_for_each (&back.kernel.events, event)
			bad += event->kind >= KERNEL_KINDS || event->end < event->start ||
			       event->flags & ~(unsigned)KERNEL_FLAGS ||
			       !(back.kernel.kinds & 1u << event->kind);
		bytes->data[i / 8] ^= (char)(1 << i % 8);
	}
	ok(!bad, "what is read can be relied on");
	ok(refused > bytes->len, "%zu of %zu changes are noticed", refused, bytes->len * 8);
}

/* Without anything of the kernel's it is of the version before, which older tools read. */
static void test_without_kernel(const char *path)
{
	struct trace_saved saved = sample_saved();
	auto_saved struct trace_saved back = { 0 };
	auto_buf struct buf with = { 0 }, without = { 0 };
	struct uspl_err err = { 0 };

	ok(saved_write(path, &saved, &err) == 0 && file_read(path, &with, &err) == 0, "with %s",
	   err.msg);
	saved.kernel = (struct kernel_log){ 0 };
	ok(saved_write(path, &saved, &err) == 0 && file_read(path, &without, &err) == 0,
	   "without %s", err.msg);
	ok(with.data[8] == 7 && without.data[8] == 6, "two versions");
	/* A list's head, and 44 bytes for each event. */
	ok(with.len == without.len + 20 + 44 * ARRAY_SIZE(sample_events) &&
		   !memcmp(with.data + 9, without.data + 9, without.len - 9),
	   "the rest is the same");
	ok(saved_read(path, &back, &err) == 0 && back.records.n == 3 && !back.kernel.kinds,
	   "the older one is read %s", err.msg);
}

/* A trace of markers has no functions; one of nothing is none. */
static void test_marks_only(const char *path)
{
	struct trace_saved saved = sample_saved();
	auto_saved struct trace_saved back = { 0 };
	struct uspl_err err = { 0 };

	saved.session.regions.n = saved.names.n = saved.records.n = saved.callers.n = 0;
	saved.lines.n = 0;
	ok(saved_write(path, &saved, &err) == 0 &&
		   saved_read(path, &back, &err) == -(int)USPL_E_HOSTILE,
	   "what the kernel tells, with markers only: %s", err.msg);
	saved.kernel = (struct kernel_log){ 0 };
	err = (struct uspl_err){ 0 };
	ok(saved_write(path, &saved, &err) == 0 && saved_read(path, &back, &err) == 0 &&
		   back.marks.n == 2,
	   "markers only %s", err.msg);
	saved.marks.n = 0;
	saved_release(&back);
	back = (struct trace_saved){ 0 };
	ok(saved_write(path, &saved, &err) == 0 &&
		   saved_read(path, &back, &err) == -(int)USPL_E_HOSTILE,
	   "nothing: %s", err.msg);
}

/* A file of which a part is in memory at a time: all of it, one that ends early, and a pipe. */
static void test_parts(const char *path)
{
	enum { N = 40000 };
	struct trace_saved saved = sample_saved();
	auto_saved struct trace_saved back = { 0 }, piped = { 0 }, cut = { 0 };
	trace_records records = { 0 };
	struct uspl_err err = { 0 };
	char text[128];
	FILE *cat;
	bool same = true;

	for (size_t i = 0; i < N; i++) {
		struct trace_record *record = vec_push(&records);

		*record = sample_records[1];
		record->end = record->start + i;
	}
	saved.records = records;
	ok(saved_write(path, &saved, &err) == 0 && saved_read(path, &back, &err) == 0 &&
		   back.records.n == N,
	   "a file of %d calls %s", N, err.msg);
	for (size_t i = 0; i < back.records.n; i++)
		same &= back.records.items[i].end == sample_records[1].start + i;
	ok(same && back.marks.n == 2 && is_second_mark(&back.marks.items[1]),
	   "each is what was written, and what stands behind them");
	snprintf(text, sizeof(text), "cat %s", path);
	cat = popen(text, "r");
	snprintf(text, sizeof(text), "/dev/fd/%d", cat ? fileno(cat) : -1);
	ok(saved_read(text, &piped, &err) == 0 && piped.records.n == N,
	   "the same through a pipe %s", err.msg);
	if (cat)
		pclose(cat);
	ok(truncate(path, N * 40) == 0 && saved_read(path, &cut, &err) == -(int)USPL_E_FILE,
	   "cut: %s", err.msg);
	vec_release(&records);
}

static void test_refusals(const struct buf *bytes)
{
	auto_saved struct trace_saved back = { 0 };
	auto_buf struct buf longer = { 0 };
	struct uspl_err err = { 0 };

	buf_add(&longer, bytes->data, bytes->len);
	buf_addstr(&longer, "x");
	ok(saved_parse(longer.data, longer.len, "f", &back, &err) == -(int)USPL_E_HOSTILE,
	   "more than there should be: %s", err.msg);
	longer.len = bytes->len;
	longer.data[8]++;
	ok(saved_parse(longer.data, longer.len, "f", &back, &err) == -(int)USPL_E_FORMAT,
	   "another version: %s", err.msg);
	ok(saved_parse("hello, world", 12, "f", &back, &err) == -(int)USPL_E_FILE,
	   "something else: %s", err.msg);
	ok(saved_read("/nonexistent/trace", &back, &err) != 0, "nothing: %s", err.msg);
}

int main(void)
{
	char path[] = "/tmp/saved_test.XXXXXX";
	auto_buf struct buf bytes = { 0 };
	int fd = mkstemp(path);

	if (fd < 0)
		return 3;
	close(fd);
	test_round(path, &bytes);
	test_cut(&bytes);
	test_changed(&bytes);
	test_refusals(&bytes);
	test_marks_only(path);
	test_without_kernel(path);
	test_parts(path);
	unlink(path);
	return tap_done();
}
