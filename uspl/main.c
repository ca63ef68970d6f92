// SPDX-License-Identifier: GPL-3.0-or-later
// main.c - the front command: `uspl CMD` and `uspl-CMD` are the same program, but for uspl-create

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/file.h"
#include "base/path.h"
#include "base/worker.h"
#include "command/commands.h"
#include "uspl/main_run.h"

/*
 * uspl-create is a program of its own: a machine that only applies updates needn't have it, nor
 * what it needs.
 */
static int start_create(int argc, char **argv, struct uspl_err *err)
{
	auto_free char *program = NULL;
	int rc = path_beside_program("uspl-create", &program, err);

	(void)argc;
	if (rc)
		return rc;
	execv(program, argv);
	if (errno != ENOENT)
		return uspl_fail_errno(err, "cannot run '%s'", program);
	uspl_fail(err, USPL_E_FILE, "uspl-create is not installed on this machine");
	uspl_hint(err, "it is a package of its own (Debian: uspl-create); updates can be made on "
		       "another machine, and applied here");
	return -USPL_E_FILE;
}

/* clang-format off */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv, struct uspl_err *err);
	const char *summary;
	bool changes; /* processes, which is done by a worker (base/worker.h) */
} commands[] = {
	{ "create", start_create, "make an update from a source diff", false },
	{ "apply",  cmd_apply,  "put an update into running processes", true },
	{ "undo",   cmd_undo,   "take an update back", true },
	{ "trace",  cmd_trace,  "trace the functions of running processes", false },
	{ "view",   cmd_view,   "show what is applied where, or what is in an update", false },
	{ "enable", cmd_enable, "keep updates for all that is started from now on", true },
	{ "disable", cmd_disable, "keep them no longer", true },
	{ "list",   cmd_list,   "list what is enabled, and which processes lack it", false },
	{ "watch",  cmd_watch,  "apply what is enabled to new processes", false },
	{ "upgrade", cmd_upgrade, "bring processes to the versions of their packages", false },
	{ "keygen", cmd_keygen, "make a key to sign updates with", false },
	{ "sign",   cmd_sign,   "sign updates", false },
	{ "verify", cmd_verify, "check the signatures of updates", false },
	{ "check-machine", cmd_check_machine, "tell what this machine allows", false },
};
/* clang-format on */

static int run(const char *name, int argc, char **argv, const char **ret_prog, struct uspl_err *err)
{
	static char prog[32];
	struct nearest nearest = { .word = name };
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, name))
			continue;
		snprintf(prog, sizeof(prog), "uspl-%s", name);
		*ret_prog = argv[0] = prog;
		if (commands[i].changes && !worker_begin(&status))
			return status;
		return commands[i].run(argc, argv, err);
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		nearest_try(&nearest, commands[i].name);
	uspl_fail(err, USPL_E_USAGE, "unknown command '%s'", name);
	cli_hint_nearest(&nearest, "uspl ", "uspl", err);
	return -USPL_E_USAGE;
}

/* `uspl help COMMAND` is `uspl COMMAND --help`, `uspl help trace start` too. */
static int help(int argc, char **argv, const char **ret_prog, struct uspl_err *err)
{
	static char option[] = "--help";
	char *words[] = { argv[0], NULL, NULL, NULL };
	int n = 1;

	if (argc > 2) {
		uspl_fail(err, USPL_E_USAGE, "'help' is given a command, and nothing else");
		uspl_hint(err, "try 'uspl --help'");
		return -USPL_E_USAGE;
	}
	if (argc == 2)
		words[n++] = argv[1];
	words[n] = option;
	return run(argv[0], n + 1, words, ret_prog, err);
}

static int dispatch(int argc, char **argv, const char **ret_prog, struct uspl_err *err)
{
	const char *called = file_basename(argv[0]);

	if (!strncmp(called, "uspl-", 5))
		return run(called + 5, argc, argv, ret_prog, err);
	if (argc < 2) {
		uspl_fail(err, USPL_E_USAGE, "no command given");
		uspl_hint(err, "try 'uspl --help'");
		return -USPL_E_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    (argc == 2 && !strcmp(argv[1], "help"))) {
		printf("usage: uspl COMMAND [OPTION]...\n\nLive patching for running "
		       "processes\n\n");
		for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
			printf("  %-13s %s\n", commands[i].name, commands[i].summary);
		printf("\n'uspl help COMMAND' explains a command; 'uspl COMMAND' is the same as "
		       "'uspl-COMMAND'\n");
		return USPL_STATUS_DONE;
	}
	if (!strcmp(argv[1], "help"))
		return help(argc - 2, argv + 2, ret_prog, err);
	if (!strcmp(argv[1], "--version")) {
		printf("uspl %s\n", USPL_VERSION);
		return USPL_STATUS_DONE;
	}
	return run(argv[1], argc - 1, argv + 1, ret_prog, err);
}

int main(int argc, char **argv)
{
	return main_run(dispatch, argc, argv);
}
