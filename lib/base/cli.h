/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cli.h - options as a table: parsing, -h and usage errors come out of the same lines
 *
 * Every command has -h/--help, --version, -v/--verbose and -q/--quiet without listing them.
 */
#ifndef USPL_BASE_CLI_H
#define USPL_BASE_CLI_H

#include "base/error.h"
#include "base/nearest.h"
#include "base/vec.h"

#define USPL_VERSION "0.1.0"

typedef VEC(const char *) cli_strings;
typedef VEC(pid_t) pid_vec;

enum cli_kind {
	CLI_FLAG,    /* bool *: set to true */
	CLI_STRING,  /* const char **: the argument, owned by argv */
	CLI_STRINGS, /* cli_strings *: every argument given, in order */
	CLI_SECONDS, /* double *: a number of seconds, 0 or more; "1.5", "200ms", "5us" */
	CLI_INT,     /* int *: 1 or more */
	/* const char **: the argument, which only '--name=ARG' gives, or "" without one */
	CLI_OPTIONAL,
};

struct cli_option {
	char letter;      /* 0: the option has only its long name */
	const char *name; /* without the dashes */
	const char *arg;  /* the argument's name in the help, NULL for a flag */
	enum cli_kind kind;
	void *value;
	const char *help;
};

struct cli_command {
	const char *name;     /* "uspl-apply" */
	const char *synopsis; /* what follows the name: "[OPTION]... UPDATE PID..." */
	const char *summary;  /* one sentence, no full stop */
	const struct cli_option *options;
	size_t n_options;
};

typedef VEC(struct cli_option) cli_option_vec;

/* Appends n options to a table that is put together; the vec is the caller's to release. */
int cli_add_options(cli_option_vec *table, const struct cli_option *options, size_t n,
		    struct uspl_err *err) uspl_must_check;

enum cli_next { CLI_GO_ON = 0, CLI_STOP = 1 };

/*
 * Parses argv by the command's table. Operands and options may be mixed; "--" ends the options.
 * Returns CLI_GO_ON with *ret_first the index of the first operand in argv (which is reordered),
 * CLI_STOP when the help or the version was asked for and printed to stdout (the command then ends
 * with status 0), or a negative code.
 */
int cli_parse(const struct cli_command *cmd, int argc, char **argv, int *ret_first,
	      struct uspl_err *err) uspl_must_check;

/* The same for a command that takes options alone: an operand is USPL_E_USAGE. */
int cli_parse_alone(const struct cli_command *cmd, int argc, char **argv,
		    struct uspl_err *err) uspl_must_check;

/*
 * The argument of an option of the table, by its long name, before the line is parsed; NULL if it
 * isn't given. For a command whose other options depend on it: options that aren't in the table are
 * passed over, but the table must have all that have a letter. Owned by argv, which stays as it is.
 */
const char *cli_peek(const struct cli_command *cmd, int argc, char **argv, const char *name);

/*
 * The hint of a usage error about a name that doesn't exist: the one that may have been meant, with
 * `before` in front of it, or else how to get the help of the command.
 */
void cli_hint_nearest(const struct nearest *nearest, const char *before, const char *cmd,
		      struct uspl_err *err);

/* True after -q: success lines and progress are not printed. */
bool cli_quiet(void);

/*
 * Reads a time ("2.5", "10s", "5ms", "20us"), the value of the option of that name. USPL_E_USAGE.
 */
int cli_seconds(const char *name, const char *text, double *ret,
		struct uspl_err *err) uspl_must_check;

/*
 * Reads a pid operand. Accepts only a whole decimal number above 0; anything else is USPL_E_USAGE,
 * with a hint that has the pids of the processes that are called so.
 */
int cli_pid(const char *text, pid_t *ret_pid, struct uspl_err *err) uspl_must_check;
/* Appends a pid; the vec is the caller's to release. */
int cli_add_pid(pid_vec *pids, pid_t pid, struct uspl_err *err) uspl_must_check;
/* cli_pid for n operands, added to pids in their order; the vec is the caller's. */
int cli_pids(char **words, int n, pid_vec *pids, struct uspl_err *err) uspl_must_check;

#endif
