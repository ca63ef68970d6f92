// SPDX-License-Identifier: GPL-3.0-or-later
// ask_tracers.c - each tracer, as uspl-trace runs it
/*
 * The command itself is called, on the trial, and what it prints is kept: its message if it fails,
 * and what it says it can't see, in lines on standard error that begin with "# ".
 */

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "check-machine/ask.h"
#include "command/commands.h"

#define ARGS_MAX 10

/*
 * How each tracer is run, as arguments for uspl-trace: PID stands for the trial's, TIME for how
 * long to observe.
 */
static const struct {
	const char *name;
	enum {
		STAYS,    /* until it is stopped */
		OBSERVES, /* for a while */
		TELLS,    /* the same, and has something to tell of the trial */
		LAUNCHES,
	} sort;
	const char *args[ARGS_MAX];
	const char *stripped[ARGS_MAX]; /* if the first can't find its functions */
} tracers[] = {
	{ "graph",
	  STAYS,
	  { "start", "--tracer=graph", "-F", "trial_*", "PID" },
	  { "start", "--tracer=graph", "-m", "*", "-F", "getppid", "PID" } },
	{ "function",
	  STAYS,
	  { "start", "--tracer=function", "-F", "trial_*", "PID" },
	  { "start", "--tracer=function", "-m", "*", "-F", "getppid", "PID" } },
	{ "profile",
	  STAYS,
	  { "start", "--tracer=profile", "-F", "trial_*", "PID" },
	  { "start", "--tracer=profile", "-m", "*", "-F", "getppid", "PID" } },
	{ "count",
	  STAYS,
	  { "start", "--tracer=count", "-F", "trial_*", "PID" },
	  { "start", "--tracer=count", "-m", "*", "-F", "getppid", "PID" } },
	{ "coverage",
	  STAYS,
	  { "start", "--tracer=coverage", "-F", "trial_*", "PID" },
	  { "start", "--tracer=coverage", "-m", "*", "-F", "getppid", "PID" } },
	{ "alloc", STAYS, { "start", "--tracer=alloc", "PID" }, { NULL } },
	{ "lock", STAYS, { "start", "--tracer=lock", "PID" }, { NULL } },
	{ "pool",
	  STAYS,
	  { "start", "--tracer=pool", "--enqueue=trial_pass", "--run=trial_work", "PID" },
	  { "start", "--tracer=pool", "--enqueue=getppid", "--run=getpgid", "PID" } },
	{ "sigoff", STAYS, { "start", "--tracer=sigoff", "PID" }, { NULL } },
	{ "branch", OBSERVES, { "start", "--tracer=branch", "TIME", "PID" }, { NULL } },
	{ "sample",
	  TELLS,
	  { "start", "--tracer=sample", "--format=folded", "TIME", "PID" },
	  { NULL } },
	{ "stack", TELLS, { "start", "--tracer=stack", "--format=json", "TIME", "PID" }, { NULL } },
	{ "sched", TELLS, { "start", "--tracer=sched", "--format=json", "TIME", "PID" }, { NULL } },
	{ "wakeup",
	  TELLS,
	  { "start", "--tracer=wakeup", "--format=json", "TIME", "PID" },
	  { NULL } },
	{ "syscall",
	  TELLS,
	  { "start", "--tracer=syscall", "--format=json", "TIME", "PID" },
	  { NULL } },
	{ "init",
	  LAUNCHES,
	  { "exec", "--tracer=init", "--format=json", "--", "/proc/self/exe", "--version" },
	  { NULL } },
};

/* How long to observe; the next time if there was nothing to see, as on a busy machine. */
static const char *const times[] = { "20ms", "200ms", "1s" };

/* What a command has said. */
struct said {
	int rc;
	struct uspl_err err;
	struct buf out, text; /* its results, and its messages */
};

static void said_release(struct said *said)
{
	buf_release(&said->out);
	buf_release(&said->text);
}

/* Standard output, or error, goes to that file; returns what it was, to be put back. */
static int redirect(FILE *stream, int to)
{
	int old;

	fflush(stream);
	old = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 3);
	dup2(to, fileno(stream));
	return old;
}

static void put_back(FILE *stream, int old)
{
	fflush(stream);
	clearerr(stream);
	dup2(old, fileno(stream));
	close(old);
}

static void read_said(int fd, struct buf *ret)
{
	lseek(fd, 0, SEEK_SET);
	if (file_read_fd(fd, "said", ret, NULL) != 0)
		buf_addstr(ret, "?");
}

/* Calls uspl-trace and keeps what it prints. said_release follows. */
static void run_trace(const struct trial *trial, const char *const args[], const char *time,
		      struct said *ret)
{
	auto_close int results = memfd_create("results", MFD_CLOEXEC);
	auto_close int messages = memfd_create("messages", MFD_CLOEXEC);
	char words[ARGS_MAX + 1][64] = { "uspl-trace" }, *argv[ARGS_MAX + 2] = { words[0] };
	int argc = 1, out, err;

	for (; argc <= ARGS_MAX && args[argc - 1]; argc++) {
		const char *word = args[argc - 1];

		argv[argc] = words[argc];
		if (!strcmp(word, "PID"))
			snprintf(words[argc], sizeof(words[argc]), "%d", trial->pid);
		else if (!strcmp(word, "TIME"))
			snprintf(words[argc], sizeof(words[argc]), "--time=%s", time);
		else
			snprintf(words[argc], sizeof(words[argc]), "%s", word);
	}
	*ret = (struct said){ 0 };
	/* The tool is to return; what a killed one would leave in a trial doesn't matter. */
	setenv("USPL_WORKER", "none", 1);
	out = redirect(stdout, results);
	err = redirect(stderr, messages);
	ret->rc = cmd_trace(argc, argv, &ret->err);
	put_back(stdout, out);
	put_back(stderr, err);
	read_said(results, &ret->out);
	read_said(messages, &ret->text);
}

/* The lines that begin with the prefix, without it, joined; false if there is none. */
static bool find_lines(const struct said *said, const char *prefix, char *ret, size_t len)
{
	size_t used = 0;

	ret[0] = '\0';
	for (const char *line = buf_str(&said->text); *line;) {
		size_t n = strcspn(line, "\n"), skip = strlen(prefix);

		if (!strncmp(line, prefix, skip) && used < len)
			used += (size_t)snprintf(ret + used, len - used, "%s%.*s", used ? "; " : "",
						 (int)(n - skip), line + skip);
		line += n + (line[n] == '\n');
	}
	return used;
}

/* Runs it until there is something to see, if it has to tell something. */
static void run_tracer(const struct trial *trial, size_t i, struct said *ret)
{
	static const char *const stop[] = { "stop", "PID", NULL };
	bool tells = tracers[i].sort == TELLS;

	run_trace(trial, tracers[i].args, times[0], ret);
	for (size_t t = 1; t < ARRAY_SIZE(times) && tells && !ret->rc && !ret->out.len; t++) {
		said_release(ret);
		run_trace(trial, tracers[i].args, times[t], ret);
	}
	/* It finds none of its own in a stripped program. Any other failure is the answer. */
	if (ret->rc && tracers[i].stripped[0] && strstr(buf_str(&ret->text), "no function")) {
		said_release(ret);
		run_trace(trial, tracers[i].stripped, times[0], ret);
	}
	if (!ret->rc && tells && !ret->out.len)
		ret->rc = uspl_fail(&ret->err, USPL_E_UNSUPPORTED,
				    "it saw nothing of a thread that runs and sleeps by turns");
	/* Stops what was started; a failure of that is as bad. */
	if (!ret->rc && tracers[i].sort == STAYS) {
		said_release(ret);
		run_trace(trial, stop, NULL, ret);
	}
}

static void ask_tracer(struct ask *ask, size_t i)
{
	static char names[ARRAY_SIZE(tracers)][32];
	int64_t began = clock_now_ns();
	struct said said;
	char limits[400], line[400];

	snprintf(names[i], sizeof(names[i]), "trace-%s", tracers[i].name);
	run_tracer(&ask->plain, i, &said);
	if (said.rc) {
		/* What the command has printed by itself, for one of several processes. */
		if (said.rc > 0) {
			if (!find_lines(&said, "uspl-trace: ", line, sizeof(line)))
				snprintf(line, sizeof(line), "it ends with status %d", said.rc);
			uspl_fail(&said.err, USPL_E_SYSTEM, "%s", line);
			if (find_lines(&said, "hint: ", line, sizeof(line)))
				uspl_hint(&said.err, "%s", line);
		}
		answers_add_err(&ask->answers, names[i], VERDICT_NO, "", &said.err);
	} else if (find_lines(&said, "# ", limits, sizeof(limits))) {
		answers_add(&ask->answers, names[i], VERDICT_LIMITED, "%s", limits);
	} else {
		answers_add(&ask->answers, names[i], VERDICT_OK, "works");
	}
	said_release(&said);
	log_debug("check", "%s: %" PRId64 " ms", names[i], (clock_now_ns() - began) / 1000000);
}

void ask_tracers(struct ask *ask)
{
	struct uspl_err why = { 0 };

	if (!ask->proc)
		return;
	/* The tracers open the trial themselves, one at a time. */
	proc_free(take_ptr(ask->proc));
	for (size_t i = 0; i < ARRAY_SIZE(tracers); i++) {
		enum trial_job job = tracers[i].sort == TELLS ? TRIAL_WAKE : TRIAL_SLEEP;

		if (ask->plain.page->job == job || trial_do(&ask->plain, job, &why) == 0)
			ask_tracer(ask, i);
		else
			answers_add_err(&ask->answers, "trace", VERDICT_NO, "", &why);
	}
}
