// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_enable.c - say which updates this machine is to have, and which no longer

#include <stdio.h>
#include <string.h>

#include "base/cli.h"
#include "base/text.h"
#include "command/commands.h"
#include "command/permit.h"
#include "machine/superseded.h"
#include "machine/updates.h"
#include "machine/wanted.h"

/*
 * Ends with another command, which is quiet if we are (cli_quiet). If it fails because no process
 * runs what the updates are for, that isn't a failure of ours.
 */
static int go_on_with(int (*command)(int argc, char **argv, struct uspl_err *err), int argc,
		      char **argv, enum uspl_code none, struct uspl_err *err)
{
	int rc = command(argc, argv, err);

	return rc == -(int)none ? USPL_STATUS_DONE : rc;
}

/* What is said of the wait for busy functions, and for other tools, in each process. */
#define WAIT_HELP "how long to wait for threads and for other tools (default 10)"
#define WAIT_SECONDS 10
/* And for the command that goes on. */
#define WAIT_WORD "--wait=%.9f"

struct enable_options {
	bool later, keep;
	double wait; /* seconds */
};

static int parse_enable(int argc, char **argv, struct enable_options *opts, int *ret_first,
			struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 0, "later", NULL, CLI_FLAG, &opts->later,
		  "leave the processes that run now as they are" },
		{ 0, "keep", NULL, CLI_FLAG, &opts->keep,
		  "keep it also when the installed package has the fix, for containers" },
		{ 'w', "wait", "SECONDS", CLI_SECONDS, &opts->wait, WAIT_HELP },
	};
	const struct cli_command cmd = {
		.name = "uspl-enable",
		.synopsis = "[OPTION]... UPDATE...",
		.summary = "Keeps updates for this machine, and applies them to all that run",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int rc = cli_parse(&cmd, argc, argv, ret_first, err);

	if (rc || *ret_first < argc)
		return rc;
	uspl_fail(err, USPL_E_USAGE, "no update given");
	uspl_hint(err, "try 'uspl-enable --help'");
	return -USPL_E_USAGE;
}

/* Leaves a note of it in the machine's log. */
static void note(const struct permit *permit, const char *command, const struct update *update,
		 const char *id, int rc, const struct uspl_err *why)
{
	const struct audit_event event = {
		.command = command,
		.update = id,
		.digest = update ? update->file.digest : NULL,
		.signer = update ? update->file.signer.key : NULL,
	};
	struct uspl_err err = { 0 };

	if (permit_note(permit, event, rc, why, &err) != 0)
		uspl_err_note(stderr, &err);
}

/* What the machine has in its packages needs no update. */
static int check_superseded(const struct update *update, struct uspl_err *err)
{
	auto_dpkg dpkg_packages installed = { 0 };
	const char *version = NULL;
	int rc = update->upgrade.source ? superseded_read_installed(&installed, err) : 0;

	if (!rc)
		rc = superseded_by(update, &installed, &version, err);
	if (rc || !version)
		return rc;
	uspl_fail(err, USPL_E_CONFLICT, "%s %s, which is installed, has the fix",
		  update->upgrade.source, version);
	uspl_hint(err, "--keep enables it all the same, for containers with an older version");
	return -USPL_E_CONFLICT;
}

static int enable_all(const struct permit *permit, const update_paths *paths,
		      const update_vec *updates, bool keep, struct uspl_err *err)
{
	for (size_t i = 0; i < updates->n; i++) {
		const struct update *update = updates->items[i];
		const char *id = update->id;
		struct uspl_err why = { 0 };
		bool is_new = false;
		int rc = permit_enable(permit, id, &update->file.signer, err);

		if (!rc && !keep)
			rc = check_superseded(update, err);
		if (!rc)
			rc = wanted_add(paths->items[i], update, keep, &is_new, err);
		if (rc)
			uspl_context(err, "cannot enable '%s'", id);
		if (rc || is_new)
			note(permit, "enable", update, id, rc, err);
		if (rc)
			return rc;
		if (wanted_add_debug(paths->items[i], update, &why))
			uspl_err_note(stderr, &why);
		if (!cli_quiet())
			printf("%s %s\n", is_new ? "enabled" : "already enabled", id);
	}
	fflush(stdout);
	return 0;
}

int cmd_enable(int argc, char **argv, struct uspl_err *err)
{
	auto_vec update_paths paths = { 0 };
	auto_updates update_vec updates = { 0 };
	auto_permit struct permit permit = { 0 };
	struct signature_terms terms;
	struct enable_options opts = { .wait = WAIT_SECONDS };
	auto_free char **words = NULL;
	auto_free char *wait = NULL;
	int first, rc = parse_enable(argc, argv, &opts, &first, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	for (int i = first; i < argc; i++) {
		const char **path = vec_push(&paths);

		if (!path)
			return uspl_fail_nomem(err);
		*path = argv[i];
	}
	rc = permit_begin(&permit, err);
	if (rc)
		return rc;
	terms = permit_terms(&permit);
	rc = updates_read(&paths, &terms, &updates, err);
	if (rc == -USPL_E_UNTRUSTED)
		note(&permit, "enable", NULL, NULL, rc, err);
	if (rc)
		return rc;
	rc = enable_all(&permit, &paths, &updates, opts.keep, err);
	if (rc || opts.later)
		return rc;
	words = calloc(paths.n + 4, sizeof(*words));
	wait = text_format(WAIT_WORD, opts.wait);
	if (!words || !wait)
		return uspl_fail_nomem(err);
	words[0] = (char[]){ "uspl-apply" };
	words[1] = (char[]){ "--all" };
	words[2] = wait;
	/* The command puts its words in another order, and writes nothing into them. */
	memcpy(words + 3, paths.items, paths.n * sizeof(*words));
	return go_on_with(cmd_apply, (int)paths.n + 3, words, USPL_E_NO_MODULE, err);
}

struct disable_options {
	bool undo;
	double wait; /* seconds */
};

static int parse_disable(int argc, char **argv, struct disable_options *opts, int *ret_first,
			 struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 0, "undo", NULL, CLI_FLAG, &opts->undo, "undo them in all processes, too" },
		{ 'w', "wait", "SECONDS", CLI_SECONDS, &opts->wait, WAIT_HELP },
	};
	const struct cli_command cmd = {
		.name = "uspl-disable",
		.synopsis = "[OPTION]... ID|UPDATE...",
		.summary = "Keeps updates no longer for what is started from now on",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int rc = cli_parse(&cmd, argc, argv, ret_first, err);

	if (rc || *ret_first < argc)
		return rc;
	uspl_fail(err, USPL_E_USAGE, "no update id given");
	uspl_hint(err, "'uspl-list' lists the updates that are enabled");
	return -USPL_E_USAGE;
}

/* The status, or a negative code. */
static int disable(const struct permit *permit, const char *word,
		   const struct disable_options *opts, struct uspl_err *err)
{
	auto_free char *wait = text_format(WAIT_WORD, opts->wait);
	char *words[] = { (char[]){ "uspl-undo" }, (char[]){ "--all" }, wait, NULL, NULL };
	auto_free char *id = NULL;
	int rc = update_named(word, &id, err);

	if (rc)
		return rc;
	rc = permit_enable(permit, id, NULL, err);
	if (rc)
		uspl_context(err, "cannot disable '%s'", id);
	else
		rc = wanted_remove(id, err);
	note(permit, "disable", NULL, id, rc, err);
	if (rc)
		return rc;
	if (!cli_quiet())
		printf("disabled %s\n", id);
	fflush(stdout);
	if (!opts->undo)
		return USPL_STATUS_DONE;
	if (!wait)
		return uspl_fail_nomem(err);
	words[3] = id;
	return go_on_with(cmd_undo, ARRAY_SIZE(words) - 1, words, USPL_E_NOT_APPLIED, err);
}

int cmd_disable(int argc, char **argv, struct uspl_err *err)
{
	auto_permit struct permit permit = { 0 };
	struct disable_options opts = { .wait = WAIT_SECONDS };
	int first, rc = parse_disable(argc, argv, &opts, &first, err), worst = USPL_STATUS_DONE;

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	rc = permit_begin(&permit, err);
	if (rc)
		return rc;
	for (int i = first; i < argc; i++) {
		struct uspl_err why = { 0 };

		rc = disable(&permit, argv[i], &opts, &why);
		if (rc < 0) {
			uspl_err_print(stderr, "uspl-disable", &why);
			rc = (int)uspl_code_status(rc);
		}
		worst = rc > worst ? rc : worst;
	}
	return worst;
}
