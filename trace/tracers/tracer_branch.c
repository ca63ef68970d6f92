// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_branch.c - how often branches went the way that their author expects
// (include/uspl/branch.h)
/*
 * The program counts by itself while its branches are on; what it counts is read a few times a
 * second, since its last counts go with it when it ends. Printed is what has come since the
 * beginning, as the kernel's branch tracer prints it: those that are wrong most often first.
 */

#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "trace/output/formats.h"
#include "trace/output/tracer.h"
#include "trace/output/view.h"
#include "trace/probe/branches.h"
#include "trace/tracers/tracers.h"
#include "trace/watch/symbols.h"

#define READ_NS 100000000

/* A branch in one function. */
struct line {
	const struct symbol *function;
	const char *file;
	int line;
	uint64_t right, wrong;
};

struct branch_tracer {
	struct symbols *symbols;
	struct branches branches;
	VEC(uint64_t) before; /* what had been counted by then, in the order of branches.counts */
	VEC(struct line) lines;
};

/* Switches them in the process, which is held for it for a moment. */
static int switch_all(const struct watch *watch, bool on, struct uspl_err *err)
{
	const struct branch_tracer *tracer = watch->state;
	struct view view;
	int rc = view_open_any(watch->proc->pid, true, &view, err);

	if (rc)
		return rc;
	rc = branches_switch(view.proc, &view.modules, &tracer->branches, on, err);
	view_release(&view);
	return rc;
}

static int open_branches(struct watch *watch, struct uspl_err *err)
{
	struct branch_tracer *tracer = watch->state;
	const struct branch_count *count;
	const struct module *module;
	int rc = symbols_new(watch->proc, &tracer->symbols, err);

	watch->interval_ns = READ_NS;
	if (rc)
		return rc;
	vec_for_each (&watch->modules, module) {
		if (module->is_vdso)
			continue;
		rc = branches_find(watch->proc, module, &tracer->branches, err);
		if (rc)
			return rc;
	}
	if (!tracer->branches.sites.n)
		return uspl_fail(err, USPL_E_NO_MODULE,
				 "no branch of pid %d says what is expected of it (uspl/branch.h)",
				 watch->proc->pid);
	rc = branches_read(watch->proc, &tracer->branches, err);
	if (rc)
		return rc;
	vec_for_each (&tracer->branches.counts, count) {
		uint64_t *before = vec_push(&tracer->before);

		if (!before)
			return uspl_fail_nomem(err);
		*before = count->value;
	}
	return switch_all(watch, true, err);
}

/* The last counts stay when the process has ended. */
static int read_branches(struct watch *watch, struct uspl_err *err)
{
	struct branch_tracer *tracer = watch->state;
	int rc = branches_read(watch->proc, &tracer->branches, NULL);

	return rc == -USPL_E_NOMEM ? uspl_fail_nomem(err) : 0;
}

/* Of the function's name, without the suffix of a part out of line: counting is done there. */
static size_t name_len(const struct symbol *function)
{
	static const char *const parts[] = { " [clone .cold]", ".cold" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const char *part = strstr(function->name, parts[i]);

		if (part)
			return (size_t)(part - function->name);
	}
	return strlen(function->name);
}

static int add_line(struct branch_tracer *tracer, const struct branch_count *count, uint64_t n,
		    struct uspl_err *err)
{
	const struct symbol *function = symbols_at(tracer->symbols, count->code);
	struct line *line, *found = NULL;
	size_t len;

	if (!function)
		return uspl_fail_nomem(err);
	len = name_len(function);
	vec_for_each (&tracer->lines, line)
		if (line->line == count->line && name_len(line->function) == len &&
		    !strncmp(line->function->name, function->name, len) &&
		    !strcmp(line->function->module, function->module) &&
		    !strcmp(line->file, count->file))
			found = line;
	if (!found) {
		found = vec_push(&tracer->lines);
		if (!found)
			return uspl_fail_nomem(err);
		*found = (struct line){ .function = function,
					.file = count->file,
					.line = count->line };
	}
	*(count->right ? &found->right : &found->wrong) += n;
	return 0;
}

static double wrong_share(const struct line *line)
{
	return 100.0 * (double)line->wrong / (double)(line->right + line->wrong);
}

static int by_share(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	double dx = wrong_share(x), dy = wrong_share(y);

	if (dx < dy || dx > dy)
		return dx > dy ? -1 : 1;
	return x->wrong > y->wrong ? -1 : x->wrong < y->wrong;
}

static void print_text(struct buf *out, const struct line *line)
{
	buf_addf(out, "%9llu %9llu  %3.0f %-30.*s %-20s %d\n", (unsigned long long)line->right,
		 (unsigned long long)line->wrong, wrong_share(line), (int)name_len(line->function),
		 line->function->name, line->file, line->line);
}

static void print_json(struct buf *out, const struct line *line)
{
	auto_json struct json json = { 0 };
	auto_buf struct buf name = { 0 };

	buf_add(&name, line->function->name, name_len(line->function));
	json_open(&json, NULL, '{');
	json_string(&json, "name", buf_str(&name));
	json_string(&json, "module", line->function->module);
	json_string(&json, "file", line->file);
	json_number(&json, "line", line->line);
	json_number(&json, "correct", (int64_t)line->right);
	json_number(&json, "incorrect", (int64_t)line->wrong);
	json_close(&json, '}');
	buf_addf(out, "%s\n", json_text(&json));
}

static int end_branches(struct watch *watch, struct uspl_err *err)
{
	struct branch_tracer *tracer = watch->state;
	const struct line *line;
	int rc = read_branches(watch, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < tracer->branches.counts.n; i++) {
		const struct branch_count *count = &tracer->branches.counts.items[i];

		if (count->value != tracer->before.items[i]) {
			rc = add_line(tracer, count, count->value - tracer->before.items[i], err);
			if (rc)
				return rc;
		}
	}
	if (tracer->lines.n)
		qsort(tracer->lines.items, tracer->lines.n, sizeof(*tracer->lines.items), by_share);
	if (watch->format == &format_text)
		buf_addf(&watch->out,
			 "# tracer: branch, pid %d (%s)\n"
			 "#correct incorrect    %% Function                       File"
			 "                 Line\n",
			 watch->proc->pid, watch->proc->comm);
	vec_for_each (&tracer->lines, line)
		(watch->format == &format_text ? print_text : print_json)(&watch->out, line);
	return 0;
}

/* A process that has ended needs no switching off. */
static void close_branches(struct watch *watch)
{
	struct branch_tracer *tracer = watch->state;
	struct uspl_err err = { 0 };

	if (tracer->branches.sites.n && switch_all(watch, false, &err) != 0)
		log_info("branch", "branches of pid %d stay on: %s", watch->proc->pid, err.msg);
	symbols_free(tracer->symbols);
	branches_release(&tracer->branches);
	vec_release(&tracer->before);
	vec_release(&tracer->lines);
}

static const struct tracer_watch watching = {
	.formats = { &format_text, &format_json },
	.open = open_branches,
	.read = read_branches,
	.end = end_branches,
	.close = close_branches,
};

const struct tracer tracer_branch = {
	.name = "branch",
	.help = "how often uspl_likely() and uspl_unlikely() were right",
	.state_size = sizeof(struct branch_tracer),
	.watch = &watching,
};
