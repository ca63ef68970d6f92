/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved_sample.h - a small trace, as it is saved */
#ifndef USPL_TESTS_SAVED_SAMPLE_H
#define USPL_TESTS_SAVED_SAMPLE_H

#include "trace/log/saved.h"

#define SAMPLE_SITES 3

static char sample_alpha[] = "alpha", sample_gamma[] = "gamma", sample_path[] = "/srv/app",
	    sample_name[] = "app", sample_id[] = "ab12";
static char *sample_words[] = { sample_alpha, NULL, sample_gamma };
static struct uspl_trace_site sample_sites[SAMPLE_SITES] = { { .entry = 0x1100 },
							     { .entry = 0x1200 },
							     { .entry = 0x1300 } };
static struct trace_record sample_records[] = {
	{ .start = 1000, .end = 2000, .id = 1, .tid = 7, .cpu = 1, .args = 1, .result = 18 },
	{ .start = 1100, .end = 1200, .id = 2, .tid = 7, .cpu = -1 },
	{ .start = 1300, .id = 3, .tid = 8, .caller = 0x1105 },
};
/* fd=7, name="abc"; and what was returned. */
static char sample_values[] = "\0dfd\0007\0sname\0abc\0\0w\0RED\0";
static char sample_line[] = "alpha.c:12";
static char *sample_lines[SAMPLE_SITES] = { sample_line };
static struct trace_caller sample_callers[] = { { 0x1105, sample_alpha } };
static char sample_mark[] = "app:step", sample_message[] = "i=5 who=main",
	    sample_string[] = "main\xff\x1b", sample_none[] = "";
static struct mark_line sample_marks[] = {
	{ .time = 950,
	  .tid = 7,
	  .name = sample_mark,
	  .module = sample_name,
	  .message = sample_none },
	{ .time = 1250,
	  .tid = 8,
	  .name = sample_mark,
	  .module = sample_name,
	  .message = sample_message,
	  .n_values = 3,
	  .values = { { .kind = USPL_PROBE_SIGNED, .word = (uint64_t)-5 },
		      { .kind = USPL_PROBE_TEXT, .text = sample_string },
		      { .kind = USPL_PROBE_FLOAT, .real = 2.5 } } },
};
static struct kernel_event sample_events[] = {
	{ .start = 1120,
	  .end = 1180,
	  .value = (uint64_t)-11,
	  .tid = 7,
	  .cpu = 1,
	  .nr = 202,
	  .kind = KERNEL_SYSCALL },
	{ .start = 1130,
	  .end = 1170,
	  .tid = 7,
	  .cpu = 1,
	  .nr = 202,
	  .kind = KERNEL_OFF,
	  .flags = KERNEL_PREEMPTED },
	{ .start = 1400,
	  .end = 1500,
	  .value = 0x7f0000001000,
	  .tid = 8,
	  .cpu = 0,
	  .nr = -1,
	  .kind = KERNEL_FAULT,
	  .flags = KERNEL_MAJOR },
};
static struct module sample_modules[] = { { .path = sample_path,
					    .name = sample_name,
					    .build_id = sample_id,
					    .start = 0x1000,
					    .end = 0x3000,
					    .is_main = true } };

static struct trace_region sample_region = {
	.head = { .magic = USPL_TRACE_MAGIC,
		  .version = USPL_TRACE_ABI_VERSION,
		  .first_id = 1,
		  .n_sites = SAMPLE_SITES,
		  .start_ticks = 900,
		  .module = 0x1000 },
	.module_name = sample_name,
	.sites = { .items = sample_sites, .n = SAMPLE_SITES },
};

/* Nothing of it is on the heap. */
static inline struct trace_saved sample_saved(void)
{
	struct trace_saved saved = {
		.pid = 7,
		.comm = "app",
		.ns_per_tick = 0.25,
		.start_ticks = 800,
		.overwritten = 5,
		.unseen = 6,
		.unsure = 4,
		.modules = { .items = sample_modules, .n = 1 },
		.session = { .regions = { .items = &sample_region, .n = 1 } },
		.names = { .items = sample_words, .n = SAMPLE_SITES },
		.lines = { .items = sample_lines, .n = SAMPLE_SITES },
		.callers = { .items = sample_callers, .n = 1 },
		.records = { .items = sample_records, .n = ARRAY_SIZE(sample_records) },
		.values = { .data = sample_values, .len = sizeof(sample_values) },
		.marks = { .items = sample_marks, .n = ARRAY_SIZE(sample_marks) },
		.kernel = { .kinds = KERNEL_ALL,
			    .lost = 3,
			    .events = { .items = sample_events, .n = ARRAY_SIZE(sample_events) } },
	};

	return saved;
}

#endif
