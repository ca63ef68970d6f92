// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_watch.c - gives what is enabled to processes as they begin

#include "base/cleanup.h"
#include "base/cli.h"
#include "command/commands.h"
#include "machine/daemon/daemon.h"
#include "machine/watch_socket.h"

static int parse(int argc, char **argv, bool *status, struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 0, "status", NULL, CLI_FLAG, status, "print what the watch that runs is at" },
	};
	const struct cli_command cmd = {
		.name = "uspl-watch",
		.synopsis = "[OPTION]...",
		.summary = "Waits for new processes, and applies the updates that are enabled to "
			   "them",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};

	return cli_parse_alone(&cmd, argc, argv, err);
}

int cmd_watch(int argc, char **argv, struct uspl_err *err)
{
	auto_free char *text = NULL;
	bool status = false;
	int rc = parse(argc, argv, &status, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (!status)
		return daemon_run(cli_quiet(), err);
	rc = watch_socket_ask(&text, err);
	if (!rc)
		puts(text);
	return rc;
}
