// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_check_machine.c - what this kernel, this processor and this user's rights allow
/*
 * This process starts the trials, and another one that asks; so a trial is no child of the process
 * that asks (trial_process.h). All end with this one.
 */

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "base/cli.h"
#include "check-machine/ask.h"
#include "command/commands.h"

struct options {
	bool json;
	pid_t pid; /* 0: about no process */
};

static int parse(int argc, char **argv, struct options *opts, struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 0, "json", NULL, CLI_FLAG, &opts->json, "print JSON" },
	};
	const struct cli_command cmd = {
		.name = "uspl-check-machine",
		.synopsis = "[OPTION]... [PID]",
		.summary = "Tells what this machine allows to uspl, and what would stop an update "
			   "of a process",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);

	if (rc || first == argc)
		return rc;
	if (argc - first > 1) {
		uspl_fail(err, USPL_E_USAGE, "unexpected operand '%s'", argv[first + 1]);
		uspl_hint(err, "try 'uspl-check-machine --help'");
		return -USPL_E_USAGE;
	}
	return cli_pid(argv[first], &opts->pid, err);
}

static void print_json(const struct ask *ask, const struct options *opts, bool works)
{
	auto_json struct json json = { 0 };
	struct utsname name;

	json_open(&json, NULL, '{');
	json_truth(&json, "works", works);
	json_string(&json, "kernel", uname(&name) == 0 ? name.release : NULL);
	answers_json(&ask->answers, "machine", &json);
	if (opts->pid) {
		json_number(&json, "pid", opts->pid);
		answers_json(&ask->process, "process", &json);
	}
	json_close(&json, '}');
	printf("%s\n", json_text(&json));
}

/* Where a process was named, only what matters to it: that leaves out what takes seconds. */
static void ask_machine(struct ask *ask, bool all)
{
	bool works;

	ask_job(ask);
	works = answers_allow(&ask->answers);
	answers_add(&ask->answers, "update", works ? VERDICT_OK : VERDICT_NO,
		    works ? "updates can be applied, and undone"
			  : "no update can be applied: see what is 'no' above");
	ask_stopless(ask);
	ask_perf(ask);
	ask_counts(ask);
	ask_sorts(ask);
	if (!all)
		return;
	ask_rights(ask);
	ask_tracers(ask);
}

/* Runs in a process of its own; returns its exit status. */
static int ask_and_print(struct ask *ask, const struct options *opts, struct uspl_err *err)
{
	const pid_t ids[] = { ask->plain.pid, ask->confined.pid, ask->shadowed.pid,
			      ask->plain.page->tid };
	auto_buf struct buf text = { 0 };
	int rc = 0;
	bool works;

	/* The trials' ids say nothing to a user. */
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		pid_t *id = ids[i] ? vec_push(&ask->answers.trials) : NULL;

		if (id)
			*id = ids[i];
	}
	ask_machine(ask, !opts->pid);
	if (opts->pid) {
		rc = ask_process(ask, opts->pid, err);
		if (rc)
			return rc;
	}
	if (ask->answers.oom || ask->process.oom)
		return uspl_fail_nomem(err);
	works = answers_allow(&ask->answers) && answers_allow(&ask->process);
	if (opts->json) {
		print_json(ask, opts, works);
	} else if (!cli_quiet()) {
		answers_show(&ask->answers, &text);
		answers_show(&ask->process, &text);
		fputs(buf_str(&text), stdout);
	}
	return works ? USPL_STATUS_DONE : USPL_STATUS_REFUSED;
}

static void release(struct ask *ask)
{
	proc_free(ask->proc);
	modules_release(&ask->modules);
	answers_release(&ask->answers);
	answers_release(&ask->process);
}

/* Has another process ask, and waits for its end. */
static int run_asker(struct ask *ask, const struct options *opts, struct uspl_err *err)
{
	pid_t parent = getpid(), asker = fork();
	struct uspl_err why = { 0 };
	int status;

	if (asker == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(USPL_STATUS_FAILED);
		status = ask_and_print(ask, opts, &why);
		if (status < 0) {
			uspl_err_print(stderr, "uspl-check-machine", &why);
			status = (int)uspl_code_status(status);
		}
		release(ask);
		if (fflush(stdout) != 0) {
			fprintf(stderr, "uspl-check-machine: cannot write to standard output\n");
			status = status ? status : USPL_STATUS_FAILED;
		}
		_exit(status);
	}
	if (asker < 0)
		return uspl_fail_errno(err, "cannot fork");
	while (waitpid(asker, &status, 0) < 0)
		if (errno != EINTR)
			return uspl_fail_errno(err, "cannot wait for a child");
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return uspl_fail(err, USPL_E_BUG, "what asks was killed by signal %d", WTERMSIG(status));
}

int cmd_check_machine(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { 0 };
	struct ask ask = { 0 };
	int rc = parse(argc, argv, &opts, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	/* A pid that is wrong should be said at once. */
	rc = opts.pid ? ask_exists(opts.pid, err) : 0;
	if (rc)
		return rc;
	rc = trial_start(&ask.plain, TRIAL_PLAIN, err);
	if (rc)
		return rc;
	/* That these can't be started is an answer, too. */
	if (trial_start(&ask.confined, TRIAL_CONFINED, &ask.no_confined) != 0 ||
	    trial_start(&ask.shadowed, TRIAL_SHADOWED, &ask.no_shadowed) != 0)
		rc = 0;
	rc = run_asker(&ask, &opts, err);
	trial_end(&ask.shadowed);
	trial_end(&ask.confined);
	trial_end(&ask.plain);
	return rc;
}
