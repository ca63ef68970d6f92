// SPDX-License-Identifier: GPL-3.0-or-later
// watch_loop.c - the loop of the tracers that run while they are attached

#include "trace/watch/watch_loop.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/cancel.h"
#include "base/log.h"
#include "perf/perf.h"
#include "thread/thread.h"
#include "trace/output/formats.h"
#include "trace/output/json_end.h"
#include "trace/output/tracer.h"
#include "trace/watch/watch_trigger.h"

#define NS_PER_MS 1000000
/* ^C may come between the question whether it has come and the wait: that is asked this often. */
#define ASK_NS (100ll * NS_PER_MS)
/*
 * A program that has just begun loads its libraries, and may end at once: we look while they are
 * there.
 */
#define YOUNG_NS (300ll * NS_PER_MS)
#define YOUNG_LOOK_NS (2ll * NS_PER_MS)

int watch_add_options(struct watch_options *opts, cli_option_vec *table, struct uspl_err *err)
{
	const struct cli_option options[] = {
		{ 0, "time", "TIME", CLI_SECONDS, &opts->seconds,
		  "for so long ('10s'; default: until ^C or the end of the process)" },
		{ 0, "format", "NAME", CLI_STRING, &opts->format,
		  "'text' (default), 'json', 'folded' (for flame graphs); not all tracers have "
		  "all" },
		{ 0, "trigger", "ACTION:FUNCTION[>TIME]", CLI_STRINGS, &opts->triggers,
		  "start or stop when it is called, or takes as long" },
	};

	return cli_add_options(table, options, ARRAY_SIZE(options), err);
}

int watch_add_perf(struct watch *watch, const struct perf *perf, struct uspl_err *err)
{
	const int *leader;

	vec_for_each (&perf->leaders, leader) {
		struct pollfd *news = vec_push(&watch->news);

		if (!news)
			return uspl_fail_nomem(err);
		*news = (struct pollfd){ .fd = *leader, .events = POLLIN };
	}
	return 0;
}

void watch_print_losses(struct watch *watch, const struct buf *losses)
{
	if (watch->format == &format_text)
		buf_addstr(&watch->out, buf_str(losses));
	else
		fputs(buf_str(losses), stderr);
}

static bool has_ended(const struct watch *watch)
{
	return watch->news.items[0].revents != 0;
}

/* Waits until there is news, it is time to look, or the deadline has come (0: none). */
static int wait_for_news(struct watch *watch, int64_t deadline, struct uspl_err *err)
{
	int64_t ns =
		watch->interval_ns && watch->interval_ns < ASK_NS ? watch->interval_ns : ASK_NS;
	int64_t left = deadline ? deadline - clock_now_ns() : ns;
	struct timespec limit;

	ns = left < ns ? left : ns;
	limit = (struct timespec){ .tv_nsec = ns > 0 ? ns : 0 };
	if (ppoll(watch->news.items, watch->news.n, &limit, NULL) < 0 && errno != EINTR)
		return uspl_fail_errno(err, "cannot wait for news");
	return 0;
}

static int print(struct watch *watch, struct uspl_err *err)
{
	if (watch->out.oom)
		return uspl_fail_nomem(err);
	format_flush(stdout, &watch->out, true);
	return fflush(stdout) ? uspl_fail_errno(err, "cannot print") : 0;
}

static int observe(const struct tracer_watch *ops, struct watch *watch,
		   const struct watch_options *opts, const struct watch_trigger *trigger,
		   struct uspl_err *err)
{
	int64_t deadline = opts->seconds > 0 ? watch->start_ns + (int64_t)(opts->seconds * 1e9) : 0;
	int64_t interval_ns = trigger->ends ? WATCH_TRIGGER_NS : watch->interval_ns;
	int rc = 0;

	while (!watch->over && !cancel_requested() && !has_ended(watch) &&
	       !watch_trigger_stopped(trigger) && (!deadline || clock_now_ns() < deadline)) {
		bool young = opts->begun && clock_now_ns() - watch->start_ns < YOUNG_NS;

		watch->interval_ns = young ? YOUNG_LOOK_NS : interval_ns;
		rc = wait_for_news(watch, deadline, err);
		if (rc)
			return rc;
		rc = ops->read(watch, err);
		if (rc)
			return rc;
		rc = print(watch, err);
		if (rc)
			return rc;
	}
	/* What came between the last look and ^C counts. */
	if (cancel_requested() && !has_ended(watch))
		return ops->read(watch, err);
	return 0;
}

/* From where the tracer begins to where it has said all. */
static int run(const struct tracer *tracer, struct watch *watch, const struct watch_options *opts,
	       const struct watch_trigger *trigger, struct uspl_err *err)
{
	const struct tracer_watch *ops = tracer->watch;
	int rc = ops->open(watch, err);

	watch->start_ns = clock_now_ns();
	if (rc)
		return rc;
	log_info("trace", "observing pid %d", watch->proc->pid);
	if (opts->begun)
		opts->begun(opts->ctx);
	rc = observe(ops, watch, opts, trigger, err);
	if (rc)
		return rc;
	rc = ops->end(watch, err);
	if (rc)
		return rc;
	if (watch->format == &format_json)
		json_end_add(tracer->name, watch->proc->pid,
			     &(struct json_losses){ .unrecorded = watch->lost }, &watch->out);
	return print(watch, err);
}

static int open_and_run(const struct tracer *tracer, struct watch *watch,
			struct watch_trigger *trigger, const struct watch_options *opts, pid_t pid,
			struct uspl_err *err)
{
	struct pollfd *end;
	int rc = format_choose(tracer, tracer->watch->formats, opts->format, &watch->format, err);

	if (rc)
		return rc;
	rc = proc_open_readonly(pid, &watch->proc, err);
	if (rc)
		return rc;
	rc = modules_read(watch->proc, &watch->modules, err);
	if (rc)
		return rc;
	/* The end of the process is always waited for; it is the first of what poll() gets. */
	end = vec_push(&watch->news);
	if (!end)
		return uspl_fail_nomem(err);
	*end = (struct pollfd){ .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	if (end->fd < 0)
		return uspl_fail_errno(err, "cannot wait for pid %d", pid);
	rc = watch_trigger_begin(trigger, &opts->triggers, watch->proc, err);
	if (rc)
		return rc;
	/* Waits until a trigger starts it, if there is one, unless it is over before. */
	if (!watch_trigger_started(trigger))
		log_info("trace", "waiting for a trigger in pid %d", pid);
	watch->interval_ns = WATCH_TRIGGER_NS;
	while (!watch_trigger_started(trigger))
		if (cancel_requested() || wait_for_news(watch, 0, NULL) || has_ended(watch))
			return 0;
	watch->interval_ns = 0;
	rc = run(tracer, watch, opts, trigger, err);
	tracer->watch->close(watch);
	return rc;
}

int watch_run(const struct tracer *tracer, void *state, const struct watch_options *opts, pid_t pid,
	      struct uspl_err *err)
{
	struct watch_trigger trigger = { 0 };
	struct watch watch = { .state = state };
	int rc = open_and_run(tracer, &watch, &trigger, opts, pid, err);

	watch_trigger_end(&trigger);
	if (rc)
		uspl_context(err, "cannot trace pid %d", pid);
	if (watch.news.n && watch.news.items[0].fd >= 0)
		close(watch.news.items[0].fd);
	vec_release(&watch.news);
	buf_release(&watch.out);
	modules_release(&watch.modules);
	proc_free(watch.proc);
	return rc;
}
