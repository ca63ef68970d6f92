// SPDX-License-Identifier: GPL-3.0-or-later
// trace_report.c - uspl-trace report: calls and times by function

#include <string.h>

#include "trace/cmd/subcommands.h"
#include "trace/output/formats.h"
#include "trace/output/names.h"
#include "trace/output/reader.h"
#include "trace/output/tracer.h"
#include "trace/report/report_diff.h"
#include "trace/report/report_rows.h"
#include "trace/tally/tally.h"
#include "trace/tracers/tracers.h"

#define NAME_MAX_LEN 512

/* What a user wants of a report on calls. */
struct report_options {
	const char *sort, *of, *diff;
	bool lines, json;
};

/* The functions that --of means: by id - 1. */
struct chosen {
	const struct reader *reader;
	const char *name;
};

static bool is_chosen(const void *ctx, uint32_t id)
{
	const struct chosen *chosen = ctx;
	char buf[NAME_MAX_LEN];

	return !strcmp(names_of(&chosen->reader->names, id, buf, sizeof(buf)), chosen->name);
}

/* The function's callers, the function, and what it calls: three tables. */
static int report_of(struct reader *reader, const char *name, enum report_key key,
		     struct report_style *style, struct uspl_err *err)
{
	static const struct {
		totals_group group;
		const char *relation, *title;
	} parts[] = {
		{ totals_by_caller, "caller", "calls of it, by caller" },
		{ totals_by_itself, "itself", "all calls of it" },
		{ totals_by_callee, "callee", "calls that it makes" },
	};
	const struct chosen chosen = { reader, name };
	const struct totals_choice choice = { .has = is_chosen, .ctx = &chosen };
	bool any = false;

	if (style->entries)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the tracer '%s' doesn't record which call made another one",
				 reader->tracer->name);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		auto_vec totals_vec all = { 0 };
		int rc = totals_make(&reader->timeline, parts[i].group, &choice, &all, err);

		if (rc)
			return rc;
		if (!all.n)
			continue;
		report_sort(&all, key);
		style->relation = parts[i].relation;
		if (!style->json)
			printf("%s# %s: %s\n", any ? "\n" : "", name, parts[i].title);
		report_print(reader, &all, style);
		any = true;
	}
	if (!any)
		return uspl_fail(err, USPL_E_NOT_APPLIED, "no call of '%s' was recorded", name);
	return 0;
}

static int choose_form(const struct tracer *tracer, const char *name, bool *json,
		       struct uspl_err *err)
{
	const struct format *const formats[FORMATS_MAX] = { &format_text, &format_json };
	const struct format *format;
	int rc = format_choose(tracer, formats, name, &format, err);

	if (rc)
		return rc;
	*json = format == &format_json;
	return 0;
}

/* Of a tracer that records calls. */
static int report(struct reader *reader, const struct report_options *opts, struct uspl_err *err)
{
	auto_vec totals_vec all = { 0 };
	auto_buf struct buf end = { 0 };
	enum report_key key = REPORT_SELF;
	struct report_style style = { .json = opts->json, .lines = opts->lines };
	int rc;

	reader->tracer = tracer_of(&reader->view.session);
	style.entries = reader->tracer->hook->entries;
	if (!reader->view.session.regions.n)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "markers have no durations to report on");
	rc = report_find_key(opts->sort ? opts->sort : style.entries ? "calls" : "self", &key, err);
	if (rc)
		return rc;
	if (style.entries && key != REPORT_CALLS)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the tracer '%s' records no durations to sort by",
				 reader->tracer->name);
	if (opts->of && opts->diff)
		return uspl_fail(err, USPL_E_USAGE, "'--of' and '--diff' don't go together");
	rc = reader_read(reader, err);
	if (rc)
		return rc;
	if (opts->of) {
		rc = report_of(reader, opts->of, key, &style, err);
	} else {
		rc = totals_make(&reader->timeline, totals_by_function, NULL, &all, err);
		if (rc)
			return rc;
		report_sort(&all, key);
		if (opts->diff)
			rc = report_diff(reader, &all, opts->diff, key, &style, err);
		else
			report_print(reader, &all, &style);
	}
	if (rc)
		return rc;
	if (opts->json) {
		reader_add_json_end(reader, &end);
		fputs(buf_str(&end), stdout);
	}
	reader_print_losses(reader, opts->json ? stderr : stdout);
	return 0;
}

int trace_report(int argc, char **argv, struct uspl_err *err)
{
	struct tally_report_options tally_opts = { 0 };
	struct report_options opts = { 0 };
	const char *form = NULL;
	const struct cli_option table[] = {
		{ 0, "json", NULL, CLI_FLAG, &opts.json,
		  "print JSON: an object for each function, or each line" },
		{ 0, "format", "NAME", CLI_STRING, &form,
		  "'text' (default) or 'json', the same; of 'coverage' also 'lcov', for genhtml" },
		{ 0, "sort", "KEY", CLI_STRING, &opts.sort,
		  "by 'self' (default), 'calls', 'total', 'min', 'avg', 'p99' or 'max'" },
		{ 0, "of", "FUNCTION", CLI_STRING, &opts.of,
		  "what calls this function, and what it calls" },
		{ 0, "diff", "FILE", CLI_STRING, &opts.diff,
		  "how the numbers differ from those of an older trace (record -o FILE)" },
		{ 0, "lines", NULL, CLI_FLAG, &opts.lines,
		  "with each function's file and line, where they are known" },
		{ 0, "per-thread", NULL, CLI_FLAG, &tally_opts.per_thread,
		  "of the tracers 'profile' and 'count': each thread's figures by themselves" },
		{ 0, "histogram", NULL, CLI_FLAG, &tally_opts.histogram,
		  "of the tracer 'profile': how many calls took how long" },
		{ 0, "leaks", NULL, CLI_FLAG, &tally_opts.leaks,
		  "of the tracer 'alloc': find the blocks that nothing points to any more" },
	};
	const struct cli_command cmd = {
		.name = "uspl-trace report",
		.synopsis = "[OPTION]... PID|FILE",
		.summary = "Prints calls and times of each function, by what was recorded",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	const struct reader_wish wish = { .does_more = &tally_opts.leaks };
	auto_reader struct reader reader = { 0 };
	const struct tracer *tracer;
	int rc = reader_open_operand(&cmd, argc, argv, &wish, &reader, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	tracer = tracer_of(&reader.view.session);
	tally_opts.lcov = form && !strcmp(form, "lcov");
	if (form && !tally_opts.lcov) {
		rc = choose_form(tracer, form, &opts.json, err);
		if (rc)
			return rc;
	}
	tally_opts.json = opts.json;
	tally_opts.sort = opts.sort;
	rc = tally_check_report(tracer, &tally_opts, err);
	if (rc)
		return rc;
	if (!tracer->tally)
		return report(&reader, &opts, err);
	if (opts.of || opts.diff || opts.lines)
		return uspl_fail(err, USPL_E_USAGE, "'--%s' is for tracers that record calls",
				 opts.of     ? "of"
				 : opts.diff ? "diff"
					     : "lines");
	return tally_report(tracer, reader.log.pid, &tally_opts, err);
}
