// SPDX-License-Identifier: GPL-3.0-or-later
// main_run.c - what the main functions of uspl and uspl-create have in common

#include "uspl/main_run.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/*
 * A mapped file has become shorter: the tool reads files of processes, but libraries map what they
 * find by themselves, such as separate debugging information. As after a kill, the next command
 * mends what was begun.
 */
static void file_was_cut(int sig)
{
	static const char message[] = "uspl: a file was cut short while it was read\n";

	(void)sig;
	(void)!write(STDERR_FILENO, message, sizeof(message) - 1);
	_exit(USPL_STATUS_FAILED);
}

int main_run(main_fn *run, int argc, char **argv)
{
	const struct sigaction cut = { .sa_handler = file_was_cut };
	const char *prog = "uspl";
	struct uspl_err err = { 0 };
	int rc;

	sigaction(SIGBUS, &cut, NULL);
	rc = run(argc, argv, &prog, &err);
	if (rc < 0) {
		uspl_err_print(stderr, prog, &err);
		rc = (int)uspl_code_status(rc);
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "%s: cannot write to standard output\n", prog);
		return rc ? rc : USPL_STATUS_FAILED;
	}
	return rc;
}
