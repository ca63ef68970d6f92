// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_coverage.c - which functions were called at all
/*
 * Each function has a byte, which its first call sets and later ones only look at. Where the calls
 * of some threads are meant (--tid) it has a count in each thread's table, as for count.
 *
 * lcov's format: https://github.com/linux-test-project/lcov, man/geninfo.1, "FILES". genhtml wants
 * lines, too; a function's first one stands for it.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/engine/sums.h"
#include "trace/output/names.h"
#include "trace/tally/call_sums.h"
#include "trace/tracers/tracers.h"

#define NAME_MAX_LEN 512

/* A function, and whether it was called. */
struct covered {
	uint32_t id;
	bool called;
	char *file; /* NULL: not known */
	int line;
};

struct coverage {
	struct tally *tally;
	struct trace_names names;
	VEC(struct covered) functions; /* by id */
	size_t n_called;
	struct buf *out;
};

static void release(struct coverage *coverage)
{
	struct covered *covered;

	vec_for_each (&coverage->functions, covered)
		free(covered->file);
	vec_release(&coverage->functions);
	names_release(&coverage->names);
}

DEFINE_AUTO_RELEASE(coverage, struct coverage, release)
#define auto_coverage __attribute__((cleanup(cleanup_coverage_)))

/* The functions of one module; flags: of each, or NULL. */
static int add_region(struct coverage *coverage, const struct trace_region *region,
		      const uint8_t *flags, struct uspl_err *err)
{
	for (size_t i = 0; i < region->sites.n; i++) {
		struct covered *covered = vec_push(&coverage->functions);

		if (!covered)
			return uspl_fail_nomem(err);
		*covered = (struct covered){ .id = region->head.first_id + (uint32_t)i,
					     .called = flags && flags[i] };
	}
	return 0;
}

static int read_flags(struct coverage *coverage, struct uspl_err *err)
{
	const struct proc *proc = coverage->tally->view.proc;
	const struct trace_region *region;

	vec_for_each (&coverage->tally->view.session.regions, region) {
		auto_free uint8_t *flags = malloc(region->sites.n + 1);
		int rc = flags ? proc_read(proc, sums_flags(&region->head), flags, region->sites.n,
					   err)
			       : uspl_fail_nomem(err);

		if (rc)
			return rc;
		rc = add_region(coverage, region, flags, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_counts(struct coverage *coverage, struct uspl_err *err)
{
	auto_call_sums struct call_sums sums = { 0 };
	const struct trace_region *region;
	const struct call_sum *sum;
	int rc = call_sums_read(coverage->tally, &sums, err);

	if (rc)
		return rc;
	vec_for_each (&coverage->tally->view.session.regions, region) {
		rc = add_region(coverage, region, NULL, err);
		if (rc)
			return rc;
	}
	vec_for_each (&sums.rows, sum)
		coverage->functions.items[sum->id - 1].called = true;
	coverage->tally->config.head.missed += sums.lost;
	return 0;
}

static void add_text(struct coverage *coverage)
{
	const struct covered *covered;
	char buf[NAME_MAX_LEN];

	buf_addf(coverage->out, "# %zu of %zu functions were called\n%-6s  %s\n",
		 coverage->n_called, coverage->functions.n, "CALLED", "FUNCTION");
	vec_for_each (&coverage->functions, covered) {
		buf_addf(coverage->out, "%-6s  %s", covered->called ? "yes" : "no",
			 names_of(&coverage->names, covered->id, buf, sizeof(buf)));
		if (covered->file)
			buf_addf(coverage->out, " (%s:%d)", covered->file, covered->line);
		buf_addstr(coverage->out, "\n");
	}
}

static void add_json(struct coverage *coverage)
{
	const struct covered *covered;
	char buf[NAME_MAX_LEN];

	vec_for_each (&coverage->functions, covered) {
		auto_json struct json json = { 0 };

		json_open(&json, NULL, '{');
		json_string(&json, "name",
			    names_of(&coverage->names, covered->id, buf, sizeof(buf)));
		json_string(&json, "module", names_module(&coverage->names, covered->id));
		json_truth(&json, "called", covered->called);
		if (covered->file) {
			json_string(&json, "file", covered->file);
			json_number(&json, "line", covered->line);
		}
		json_close(&json, '}');
		tally_take_json(&json, coverage->out);
	}
}

static int by_source(const void *a, const void *b)
{
	const struct covered *x = a, *y = b;
	int by_file;

	if (!x->file || !y->file)
		return !x->file - !y->file;
	by_file = strcmp(x->file, y->file);
	if (by_file)
		return by_file;
	return x->line != y->line ? x->line - y->line : x->id < y->id ? -1 : x->id > y->id;
}

/* The functions of one source file. */
static void lcov_add_file(const struct coverage *coverage, const struct covered *first, size_t n)
{
	struct buf *out = coverage->out;
	char buf[NAME_MAX_LEN];
	size_t called = 0, lines = 0, hit = 0;

	buf_addf(out, "TN:\nSF:%s\n", first->file);
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "FN:%d,%s\n", first[i].line,
			 names_of(&coverage->names, first[i].id, buf, sizeof(buf)));
	for (size_t i = 0; i < n; i++) {
		called += first[i].called;
		buf_addf(out, "FNDA:%d,%s\n", first[i].called,
			 names_of(&coverage->names, first[i].id, buf, sizeof(buf)));
	}
	buf_addf(out, "FNF:%zu\nFNH:%zu\n", n, called);
	for (size_t i = 0, end; i < n; i = end) {
		bool ran = false;

		for (end = i; end < n && first[end].line == first[i].line; end++)
			ran |= first[end].called;
		buf_addf(out, "DA:%d,%d\n", first[i].line, ran);
		lines++;
		hit += ran;
	}
	buf_addf(out, "LF:%zu\nLH:%zu\nend_of_record\n", lines, hit);
}

static int add_lcov(struct coverage *coverage, struct uspl_err *err)
{
	struct covered *all = coverage->functions.items;
	size_t n = coverage->functions.n, known = 0;

	if (n)
		qsort(all, n, sizeof(*all), by_source);
	while (known < n && all[known].file)
		known++;
	if (!known) {
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "no debug information tells where the functions of pid %d are",
			  coverage->tally->view.proc->pid);
		uspl_hint(err, "the formats 'text' and 'json' do without");
		return -USPL_E_UNSUPPORTED;
	}
	for (size_t i = 0, end; i < known; i = end) {
		for (end = i; end < known && !strcmp(all[end].file, all[i].file); end++)
			;
		lcov_add_file(coverage, &all[i], end - i);
	}
	if (known < n)
		fprintf(stderr, "uspl-trace: note: of %zu functions the source isn't known\n",
			n - known);
	return 0;
}

static int report(struct tally *tally, bool json, struct buf *out, struct uspl_err *err)
{
	const struct view *view = &tally->view;
	auto_coverage struct coverage coverage = { .tally = tally, .out = out };
	struct covered *covered;
	int rc = names_find(view->proc, &view->modules, &view->session, &coverage.names, err);

	if (rc)
		return rc;
	rc = tally->config.head.own_len ? read_counts(&coverage, err) : read_flags(&coverage, err);
	if (rc)
		return rc;
	vec_for_each (&coverage.functions, covered) {
		covered->file = names_source(&coverage.names, covered->id, &covered->line);
		coverage.n_called += covered->called;
	}
	if (tally->opts->lcov)
		return add_lcov(&coverage, err);
	(json ? add_json : add_text)(&coverage);
	return 0;
}

static const struct tracer_tally tally = {
	.job = USPL_LISTEN_COVERAGE,
	.cell_len = sizeof(uint64_t),
	.entries = true,
	.flag = true,
	.report = report,
};

const struct tracer tracer_coverage = {
	.name = "coverage",
	.help = "which functions were called at all",
	.tally = &tally,
};
