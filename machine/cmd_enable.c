// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_enable.c - say which updates this machine is to have, and which no longer

#include <stdio.h>
#include <string.h>

#include "base/cli.h"
#include "command/commands.h"
#include "machine/updates.h"
#include "machine/wanted.h"

struct options {
	bool later, undo;
};

/* The words of a command that this one ends with, as they would be typed. */
typedef VEC(char *) word_vec;

static int add_word(word_vec *words, const char *word, struct uspl_err *err)
{
	char **item = vec_push(words);

	if (!item)
		return uspl_fail_nomem(err);
	/* The command's parser puts them in another order, and writes nothing into them. */
	*item = (char *)word;
	return 0;
}

/* What such a command fails with because no process runs it isn't a failure of ours. */
static int go_on_with(int (*command)(int argc, char **argv, struct uspl_err *err), word_vec *words,
		      int none, struct uspl_err *err)
{
	int argc = (int)words->n, rc = add_word(words, NULL, err);

	if (!rc)
		rc = command(argc, words->items, err);
	return rc == -none ? USPL_STATUS_DONE : rc;
}

static int parse_enable(int argc, char **argv, struct options *opts, int *ret_first,
			struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 0, "later", NULL, CLI_FLAG, &opts->later,
		  "leave the processes that run now as they are" },
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

static int enable_all(const update_paths *paths, const update_vec *updates, struct uspl_err *err)
{
	for (size_t i = 0; i < updates->n; i++) {
		const char *id = updates->items[i]->id;
		bool is_new = false;
		int rc = wanted_add(paths->items[i], id, &is_new, err);

		if (rc) {
			uspl_context(err, "cannot enable '%s'", id);
			return rc;
		}
		if (!cli_quiet())
			printf("%s %s\n", is_new ? "enabled" : "already enabled", id);
	}
	fflush(stdout);
	return 0;
}

static int apply_all(const update_paths *paths, struct uspl_err *err)
{
	word_vec words = { 0 };
	const char **path;
	int rc = add_word(&words, "uspl-apply", err);

	rc = rc ? rc : add_word(&words, "--all", err);
	if (!rc && cli_quiet())
		rc = add_word(&words, "--quiet", err);
	vec_for_each (paths, path)
		rc = rc ? rc : add_word(&words, *path, err);
	rc = rc ? rc : go_on_with(cmd_apply, &words, USPL_E_NO_MODULE, err);
	vec_release(&words);
	return rc;
}

static int enable(char **words, int n, const struct options *opts, struct uspl_err *err)
{
	auto_updates update_vec updates = { 0 };
	update_paths paths = { 0 };
	int rest = 0, rc = 0;

	for (int i = 0; i < n && !rc; i++)
		rc = updates_pick(&words[i], 1, &paths, &rest, err);
	if (!rc)
		rc = updates_read(&paths, &updates, err);
	if (!rc)
		rc = enable_all(&paths, &updates, err);
	if (!rc && !opts->later)
		rc = apply_all(&paths, err);
	vec_release(&paths);
	return rc;
}

int cmd_enable(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { 0 };
	int first, rc = parse_enable(argc, argv, &opts, &first, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	return enable(argv + first, argc - first, &opts, err);
}

static int parse_disable(int argc, char **argv, struct options *opts, int *ret_first,
			 struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 0, "undo", NULL, CLI_FLAG, &opts->undo, "undo them in all processes, too" },
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

static int undo_all(const char *id, struct uspl_err *err)
{
	word_vec words = { 0 };
	int rc = add_word(&words, "uspl-undo", err);

	rc = rc ? rc : add_word(&words, "--all", err);
	if (!rc && cli_quiet())
		rc = add_word(&words, "--quiet", err);
	rc = rc ? rc : add_word(&words, id, err);
	rc = rc ? rc : go_on_with(cmd_undo, &words, USPL_E_NOT_APPLIED, err);
	vec_release(&words);
	return rc;
}

/* The status, or a negative code. */
static int disable(const char *word, const struct options *opts, struct uspl_err *err)
{
	auto_free char *id = NULL;
	int rc = update_named(word, &id, err);

	if (rc)
		return rc;
	rc = wanted_remove(id, err);
	if (rc)
		return rc;
	if (!cli_quiet())
		printf("disabled %s\n", id);
	fflush(stdout);
	return opts->undo ? undo_all(id, err) : USPL_STATUS_DONE;
}

int cmd_disable(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { 0 };
	int first, rc = parse_disable(argc, argv, &opts, &first, err), worst = USPL_STATUS_DONE;

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	for (int i = first; i < argc; i++) {
		struct uspl_err why = { 0 };

		rc = disable(argv[i], &opts, &why);
		if (rc < 0) {
			uspl_err_print(stderr, "uspl-disable", &why);
			rc = (int)uspl_code_status(rc);
		}
		worst = rc > worst ? rc : worst;
	}
	return worst;
}
