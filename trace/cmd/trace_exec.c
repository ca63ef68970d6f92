// SPDX-License-Identifier: GPL-3.0-or-later
// trace_exec.c - uspl-trace exec: a program is traced from its first instruction
//
// A watching tracer attaches where the kernel has just put the program in place of us, at the
// dynamic linker's first instruction; then the program is let go, and isn't held any more. Other
// tracers begin when functions are there, and are asked at the end (child_follow.c). If this tool
// dies before the program has begun, so does the program. Where a tracer can't work, the program
// runs without it: the user has asked for the program in any case.
//
// A program that opens libraries which are to be traced is let go for that, for some milliseconds.
// It may end in these: then its records are those that a keeper has saved (trace_keep.h).

#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "trace/cmd/line.h"
#include "trace/cmd/save.h"
#include "trace/cmd/subcommands.h"
#include "trace/cmd/trace_keep.h"
#include "trace/cmd/tracing.h"
#include "trace/log/last_trace.h"
#include "trace/log/zst.h"
#include "trace/output/formats.h"
#include "trace/output/look.h"
#include "trace/output/reader.h"
#include "trace/output/tracer.h"
#include "trace/tally/tally.h"
#include "trace/tracers/child.h"
#include "trace/tracers/following.h"
#include "trace/watch/kernel_told.h"
#include "trace/watch/watch_loop.h"

/* Most programs open their libraries when they begin. */
#define EARLY_NS 2000000000ll
#define EARLY_LOOK_MS 5

/* A program that is to be run, and where what was recorded goes. */
struct run {
	struct line line;
	const char *output; /* NULL: standard output */
	bool saves;         /* the output is made by record, not by cat and report */
	struct following following;
	int64_t early_ns, look_ns; /* until when it begins; the next look at its libraries */
	bool is_kept;              /* a keeper has what was recorded, too */
	bool grows;                /* libraries that it opens are traced */
	const char *kinds;         /* what the kernel is asked for, as given; NULL: nothing */
	unsigned set;              /* the same (kernel_event.h) */
	struct kernel_told kernel;
};

static void run_release(struct run *run)
{
	following_release(&run->following);
	kernel_told_release(&run->kernel);
	line_release(&run->line);
}

DEFINE_AUTO_RELEASE(run, struct run, run_release)
#define auto_run __attribute__((cleanup(cleanup_run_)))

/* Calls with what the kernel has told, as cat prints them or record saves them. */
static int print_with_kernel(struct run *run, pid_t pid, struct uspl_err *err)
{
	const char *form = run->line.format, *path = run->saves ? run->output : NULL;
	auto_reader struct reader reader = { .to = run->saves ? NULL : stdout };
	int rc = reader_open(pid, "", &reader, err);

	if (rc)
		return rc;
	reader.kernel_source = (struct kernel_source){ kernel_told_take, &run->kernel };
	if (!run->saves && !form)
		form = format_text.name;
	save_prepare(&reader, form, path);
	rc = reader_read(&reader, err);
	if (rc)
		return rc;
	return save_as(&reader, form, path, err);
}

/* What the tracer has recorded; each sort has a subcommand for it. */
static int print_by_subcommand(const struct run *run, pid_t pid, struct uspl_err *err)
{
	const char *form = run->line.format;
	auto_buf struct buf format = { 0 }, output = { 0 };
	char name[] = "exec", quiet[] = "--quiet", number[16], *argv[6] = { name, number };
	int argc = 2;

	snprintf(number, sizeof(number), "%d", pid);
	buf_addf(&format, "--format=%s", form ? form : "");
	buf_addf(&output, "--output=%s", run->output ? run->output : "");
	if (format.oom || output.oom)
		return uspl_fail_nomem(err);
	if (form)
		argv[argc++] = format.data;
	if (run->saves) {
		argv[argc++] = output.data;
		argv[argc++] = quiet;
	}
	look_go_on();
	return (run->saves                ? trace_record
		: run->line.tracer->tally ? trace_report
					  : trace_cat)(argc, argv, err);
}

static int print_records(void *ctx, pid_t pid, struct uspl_err *err)
{
	struct run *run = ctx;
	int rc = run->set ? print_with_kernel(run, pid, err) : -USPL_E_NO_PROCESS;

	/* A keeper may have the calls. */
	if (rc == -USPL_E_NO_PROCESS)
		rc = print_by_subcommand(run, pid, err);
	if (run->is_kept && !rc)
		last_trace_forget(run->following.proc);
	if (rc == -USPL_E_NOT_APPLIED)
		child_say_gone(pid);
	else if (rc == -USPL_E_NO_PROCESS)
		fprintf(stderr,
			"uspl-trace: pid %d has ended while a library was added, and what was "
			"recorded went with it\n",
			pid);
	else
		return rc;
	return 0;
}

/* When the next look is due. */
static void plan_look(struct run *run)
{
	int64_t now_ns = clock_now_ns();
	int ms = following_pause_ms(&run->following);

	if (now_ns < run->early_ns && !run->following.taken_ns && ms > EARLY_LOOK_MS)
		ms = EARLY_LOOK_MS;
	run->look_ns = now_ns + ms * 1000000ll;
}

static int look_ms(void *ctx)
{
	const struct run *run = ctx;
	int64_t left_ms = (run->look_ns - clock_now_ns()) / 1000000;

	if (run->set && (!run->grows || left_ms > KERNEL_TOLD_MS))
		return KERNEL_TOLD_MS;
	return left_ms > 0 ? (int)left_ms + 1 : 1;
}

/* Libraries have come that may be wanted. On the way there the kernel is asked. */
static bool has_libraries(void *ctx)
{
	struct run *run = ctx;
	struct following *following = &run->following;
	bool found;

	if (run->set)
		kernel_told_ask(&run->kernel);
	if (!run->grows || clock_now_ns() < run->look_ns)
		return false;
	found = following_goes_on(following) && following_has_news(following);
	plan_look(run);
	/* It may end when it is let go. */
	if (found && !run->is_kept) {
		trace_keep_start(following->proc);
		run->is_kept = true;
	}
	return found;
}

static void add_libraries(void *ctx)
{
	struct run *run = ctx;
	struct following *following = &run->following;

	if (following_take(following, NULL))
		log_info("trace", "no memory for libraries that were opened");
	plan_look(run);
}

/* A tracer that stands in the program's functions: it begins when they are there. */
static int run_hooked(struct run *run, struct child *child, struct uspl_err *err)
{
	struct child_events events = { .at_end = print_records, .ctx = run };
	struct line *line = &run->line;
	struct uspl_err why = { 0 };
	int rc = child_ready(child, NULL, err);

	if (rc)
		return rc;
	if (run->set) {
		rc = kernel_watch_open(&run->kernel.watch, child->pid, run->set, err);
		if (rc)
			return rc;
		fputs(buf_str(&run->kernel.watch.notes), stderr);
	}
	line->hook.begins = line->tally.begins = true;
	/* What is printed in a form of its own is for programs. */
	line->hook.silent = line->tally.silent = line->format || run->saves;
	rc = line_is_hooked(line)
		     ? tracing_start(line->tracer, &line->hook, child->pid, err)
		     : tally_start(line->tracer, line->state, &line->tally, child->pid, err);
	if (rc)
		return rc;
	if (line->tracer->hook && tracing_can_grow(&line->hook)) {
		run->following.choice = tracing_choice(&line->hook);
		run->following.keep_mcount = line->hook.keep_mcount;
		run->following.loaded = trace_keep_start;
		if (!following_begin(&run->following, child->pid, &why)) {
			run->early_ns = clock_now_ns() + EARLY_NS;
			run->grows = true;
		} else {
			log_info("trace", "libraries that are opened aren't traced: %s", why.msg);
		}
	}
	if (run->grows || run->set) {
		events.look_ms = look_ms;
		events.has_work = has_libraries;
		events.work = add_libraries;
	}
	rc = run->set ? kernel_watch_begin(&run->kernel.watch, err) : 0;
	if (rc)
		return rc;
	return child_follow(child, &events, err);
}

/* The tracer has begun. */
static void let_go(void *ctx)
{
	child_free(ctx);
}

static int run_traced(struct run *run, struct child *child, struct uspl_err *err)
{
	struct line *line = &run->line;

	if (line->tracer->watch) {
		int rc;

		line->watch.begun = let_go;
		line->watch.ctx = child;
		rc = watch_run(line->tracer, line->state, &line->watch, child->pid, err);
		if (rc)
			return rc;
		return child_wait(child);
	}
	if (line->tracer->launch)
		return line->tracer->launch->run(line->state, child, err);
	return run_hooked(run, child, err);
}

/* How records are to be printed, or saved. */
static int check_records(struct run *run, struct uspl_err *err)
{
	const char *name = run->line.format;
	const struct format *format = name || !run->output ? NULL : format_by_suffix(run->output);
	bool is_packed = run->output && zst_is_name(run->output);
	int rc = save_check_path(name, run->output, err);

	if (rc || (!name && !format && !is_packed))
		return rc;
	run->saves = !name || format_find(name, &format, NULL) != 0;
	if (run->saves && !run->output)
		return uspl_fail(err, USPL_E_USAGE, "nowhere to save to: '--output=PATH'");
	return format ? format_check(format, run->line.tracer, err) : 0;
}

/* What is wrong with the options is said before the program runs. */
static int check_options(struct run *run, struct uspl_err *err)
{
	const struct line *line = &run->line;
	const struct tracer *tracer = line->tracer;
	const struct format *const formats[FORMATS_MAX] = { &format_text, &format_json }, *format;
	struct tally_report_options opts = { 0 };
	int rc;

	if (run->kinds && !tracer->hook)
		return uspl_fail(err, USPL_E_USAGE,
				 "'--kernel' is for tracers that record calls, not for '%s'",
				 tracer->name);
	rc = run->kinds ? kernel_kinds_parse(run->kinds, &run->set, err) : 0;
	if (rc)
		return rc;
	if (line->watch.triggers.n)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "a tracer that observes has triggers only for a process that runs "
				 "already");
	if (tracer->watch)
		return format_choose(tracer, tracer->watch->formats, line->watch.format, &format,
				     err);
	if (tracer->launch)
		return tracer->launch->check(line->state, err);
	if (!tracer->tally)
		return check_records(run, err);
	/* How its sums are to be printed. */
	opts.lcov = line->format && !strcmp(line->format, "lcov");
	if (opts.lcov)
		return tally_check_report(tracer, &opts, err);
	return format_choose(tracer, formats, line->format, &format, err);
}

static int start_and_run(struct run *run, struct child *child, char **command, struct uspl_err *err)
{
	int rc = child_start(child, command, err);

	if (rc)
		return rc;
	if (run->output && !run->saves && !freopen(run->output, "we", stdout))
		return uspl_fail_errno(err, "cannot write '%s'", run->output);
	rc = run_traced(run, child, err);
	/* The program doesn't run if the command line is wrong, or code could not be put back. */
	if (rc >= 0 || child->pid <= 0 || rc == -USPL_E_USAGE || rc == -USPL_E_STRANDED ||
	    cancel_requested())
		return rc;
	/* What the tracer had to say is a note, and the program's status is ours. */
	uspl_context(err, child->is_free ? "the program goes on without being traced"
					 : "the program runs without being traced");
	uspl_err_note(stderr, err);
	if (!child->is_free)
		child_free(child);
	return child_wait(child);
}

int trace_exec(int argc, char **argv, struct uspl_err *err)
{
	auto_run struct run run = { .line.prints = true };
	const struct cli_option own[] = {
		{ 'o', "output", "FILE", CLI_STRING, &run.output,
		  "write there (default: standard output, as the program may)" },
		{ 0, "kernel", "KINDS", CLI_OPTIONAL, &run.kinds,
		  "what the kernel tells of the threads, too, beside recorded calls; 'syscalls', "
		  "'sched' and 'faults', or some of them (default: all)" },
	};
	const struct cli_command about = {
		.name = "uspl-trace exec",
		.synopsis = "[--tracer=NAME] [OPTION]... -- COMMAND [ARG]...",
		.summary = "Runs a program that is traced from its first instruction",
		.options = own,
		.n_options = ARRAY_SIZE(own),
	};
	struct child child = { 0 };
	int rc = line_parse(&about, argc, argv, &run.line, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (run.line.first == argc) {
		rc = uspl_fail(err, USPL_E_USAGE, "no command given");
		uspl_hint(err, "try 'uspl-trace exec --help'");
		return rc;
	}
	rc = check_options(&run, err);
	if (rc)
		return rc;
	cancel_catch();
	rc = start_and_run(&run, &child, argv + run.line.first, err);
	if (rc < 0)
		child_discard(&child);
	return rc;
}
