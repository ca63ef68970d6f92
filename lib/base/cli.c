// SPDX-License-Identifier: GPL-3.0-or-later
// cli.c - options as a table

#include "base/cli.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"

/* Long options are told apart by these values; they start above every letter. */
enum { OPT_HELP = 1000, OPT_VERSION, OPT_VERBOSE, OPT_QUIET, OPT_FIRST };

static bool quiet;

/* clang-format off */
static const struct { char letter; const char *name, *help; int value; } common[] = {
	{ 'v', "verbose", "show the steps; twice: the details", OPT_VERBOSE },
	{ 'q', "quiet",   "print nothing but errors",           OPT_QUIET },
	{ 'h', "help",    "show this help",                     OPT_HELP },
	{ 0,   "version", "show the version",                   OPT_VERSION },
};
/* clang-format on */

static void print_option(char letter, const char *name, const char *arg, bool optional,
			 const char *help)
{
	char left[64];

	snprintf(left, sizeof(left), "  %c%c%c --%s%s%s%s%s", letter ? '-' : ' ',
		 letter ? letter : ' ', letter ? ',' : ' ', name, optional ? "[" : "",
		 arg ? "=" : "", arg ? arg : "", optional ? "]" : "");
	printf("%-32s %s\n", left, help);
}

int cli_seconds(const char *name, const char *text, double *ret, struct uspl_err *err)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (end != text && !strcmp(end, "ms"))
		value /= 1000;
	else if (end != text && !strcmp(end, "us"))
		value /= 1000000;
	else if (end != text && (!strcmp(end, "s") || !*end))
		;
	else
		return uspl_fail(err, USPL_E_USAGE, "'--%s=%s' is not a number of seconds", name,
				 text);
	if (errno || !isfinite(value) || value < 0 || value > 1e6)
		return uspl_fail(err, USPL_E_USAGE, "'--%s=%s' is out of range", name, text);
	*ret = value;
	return 0;
}

static int store(const struct cli_option *opt, char *arg, struct uspl_err *err)
{
	const char **item;
	char *end;
	long value;

	switch (opt->kind) {
	case CLI_FLAG:
		*(bool *)opt->value = true;
		return 0;
	case CLI_STRING:
		*(const char **)opt->value = arg;
		return 0;
	case CLI_STRINGS:
		item = vec_push((cli_strings *)opt->value);
		if (!item)
			return uspl_fail_nomem(err);
		*item = arg;
		return 0;
	case CLI_SECONDS:
		return cli_seconds(opt->name, arg, opt->value, err);
	case CLI_INT:
		errno = 0;
		value = strtol(arg, &end, 10);
		if (end == arg || *end || errno || value < 1 || value > INT_MAX)
			return uspl_fail(err, USPL_E_USAGE,
					 "'--%s=%s' is not a whole number above 0", opt->name, arg);
		*(int *)opt->value = (int)value;
		return 0;
	case CLI_OPTIONAL:
		*(const char **)opt->value = arg ? arg : "";
		return 0;
	}
	return uspl_fail(err, USPL_E_BUG, "option '%s' has no kind", opt->name);
}

static void fill_tables(const struct cli_command *cmd, struct option *longs, char *shorts)
{
	char *s = shorts;
	size_t n = 0;

	*s++ = ':';
	for (size_t i = 0; i < cmd->n_options; i++) {
		const struct cli_option *opt = &cmd->options[i];

		longs[n++] =
			(struct option){ .name = opt->name,
					 .has_arg = opt->kind == CLI_OPTIONAL ? optional_argument
						    : opt->arg                ? required_argument
									      : no_argument,
					 .val = OPT_FIRST + (int)i };
		if (opt->letter)
			*s++ = opt->letter;
		if (opt->letter && opt->arg)
			*s++ = ':';
	}
	for (size_t i = 0; i < ARRAY_SIZE(common); i++) {
		longs[n++] = (struct option){ .name = common[i].name, .val = common[i].value };
		if (common[i].letter)
			*s++ = common[i].letter;
	}
	longs[n] = (struct option){ 0 };
	*s = '\0';
}

/* What getopt returned, as the value of a long option. */
static int long_value(const struct cli_command *cmd, int c)
{
	if (c >= OPT_HELP)
		return c;
	for (size_t i = 0; i < cmd->n_options; i++)
		if (cmd->options[i].letter == c)
			return OPT_FIRST + (int)i;
	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		if (common[i].letter == c)
			return common[i].value;
	return c;
}

void cli_hint_nearest(const struct nearest *nearest, const char *before, const char *cmd,
		      struct uspl_err *err)
{
	if (nearest->name)
		uspl_hint(err, "did you mean '%s%s'?", before, nearest->name);
	else
		uspl_hint(err, "try '%s --help'", cmd);
}

static int usage_error(const struct cli_command *cmd, int c, char **argv, struct uspl_err *err)
{
	const char *word = argv[optind - 1];
	char letter[3] = { '-', (char)optopt, '\0' };
	bool is_long = strncmp(word, "--", 2) == 0;
	auto_free char *name = is_long ? strndup(word + 2, strcspn(word + 2, "=")) : NULL;
	struct nearest nearest = { .word = "" };

	/* The option that a long option's name may have been meant for. */
	if (name && c != ':') {
		nearest.word = name;
		for (size_t i = 0; i < cmd->n_options; i++)
			nearest_try(&nearest, cmd->options[i].name);
		for (size_t i = 0; i < ARRAY_SIZE(common); i++)
			nearest_try(&nearest, common[i].name);
	}
	if (optopt > 0 && optopt < OPT_HELP && !is_long)
		word = letter;
	uspl_fail(err, USPL_E_USAGE,
		  c == ':' ? "option '%s' needs an argument" : "unknown option '%s'", word);
	cli_hint_nearest(&nearest, "--", cmd->name, err);
	return -USPL_E_USAGE;
}

int cli_parse(const struct cli_command *cmd, int argc, char **argv, int *ret_first,
	      struct uspl_err *err)
{
	struct option longs[64];
	char shorts[160];
	int c, verbose = 0, rc;

	if (cmd->n_options + ARRAY_SIZE(common) >= ARRAY_SIZE(longs))
		return uspl_fail(err, USPL_E_BUG, "'%s' has too many options", cmd->name);
	fill_tables(cmd, longs, shorts);
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (c == '?' || c == ':')
			return usage_error(cmd, c, argv, err);
		c = long_value(cmd, c);
		switch (c) {
		case OPT_HELP:
			printf("usage: %s %s\n\n%s\n\n", cmd->name, cmd->synopsis, cmd->summary);
			for (size_t i = 0; i < cmd->n_options; i++)
				print_option(cmd->options[i].letter, cmd->options[i].name,
					     cmd->options[i].arg,
					     cmd->options[i].kind == CLI_OPTIONAL,
					     cmd->options[i].help);
			for (size_t i = 0; i < ARRAY_SIZE(common); i++)
				print_option(common[i].letter, common[i].name, NULL, false,
					     common[i].help);
			return CLI_STOP;
		case OPT_VERSION:
			printf("%s %s\n", cmd->name, USPL_VERSION);
			return CLI_STOP;
		case OPT_VERBOSE:
			log_set_level(++verbose);
			break;
		case OPT_QUIET:
			quiet = true;
			break;
		default:
			rc = store(&cmd->options[c - OPT_FIRST], optarg, err);
			if (rc)
				return rc;
		}
	}
	*ret_first = optind;
	return CLI_GO_ON;
}

int cli_parse_alone(const struct cli_command *cmd, int argc, char **argv, struct uspl_err *err)
{
	int first, rc = cli_parse(cmd, argc, argv, &first, err);

	if (rc || first == argc)
		return rc;
	uspl_fail(err, USPL_E_USAGE, "'%s' is more than it takes", argv[first]);
	uspl_hint(err, "try '%s --help'", cmd->name);
	return -USPL_E_USAGE;
}

const char *cli_peek(const struct cli_command *cmd, int argc, char **argv, const char *name)
{
	struct option longs[64];
	char shorts[160];
	/* getopt puts operands last, and may take an unknown option's argument for one. */
	auto_free char **words = calloc((size_t)argc + 1, sizeof(*words));
	const char *found = NULL;
	int c;

	if (!words || cmd->n_options + ARRAY_SIZE(common) >= ARRAY_SIZE(longs))
		return NULL;
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	fill_tables(cmd, longs, shorts);
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, words, shorts, longs, NULL)) != -1) {
		c = long_value(cmd, c);
		if (c >= OPT_FIRST && !strcmp(cmd->options[c - OPT_FIRST].name, name))
			found = optarg;
	}
	return found;
}

int cli_add_options(cli_option_vec *table, const struct cli_option *options, size_t n,
		    struct uspl_err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct cli_option *option = vec_push(table);

		if (!option)
			return uspl_fail_nomem(err);
		*option = options[i];
	}
	return 0;
}

bool cli_quiet(void)
{
	return quiet;
}

/* A word that is no pid may be a program's name: the pids of those that are called so. */
static void hint_pids(const char *name, struct uspl_err *err)
{
	enum { SHOWN = 5, NAME_MAX_LEN = 15 /* the kernel cuts names off */ };
	auto_buf struct buf pids = { 0 };
	auto_closedir DIR *processes = opendir("/proc");
	const struct dirent *entry;
	size_t n = 0;

	while (processes && (entry = readdir(processes))) {
		auto_buf struct buf called = { 0 };
		char path[sizeof("/proc//comm") + sizeof(entry->d_name)];

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (!isdigit((unsigned char)*entry->d_name) || file_read(path, &called, NULL) ||
		    called.len < 2)
			continue;
		called.data[called.len - 1] = '\0'; /* the end of its line */
		if (!strncmp(called.data, name, NAME_MAX_LEN) && n++ < SHOWN)
			buf_addf(&pids, "%s%s", pids.len ? ", " : "", entry->d_name);
	}
	if (!n || pids.oom)
		uspl_hint(err, "a process is named by its pid, as 'ps' and 'pidof' tell it");
	else if (n > SHOWN)
		uspl_hint(err, "processes of that name: %s and %zu more", pids.data, n - SHOWN);
	else
		uspl_hint(err, "%s of that name: %s", n == 1 ? "the process" : "processes",
			  pids.data);
}

int cli_pid(const char *text, pid_t *ret_pid, struct uspl_err *err)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || value < 1 || value > INT_MAX) {
		uspl_fail(err, USPL_E_USAGE, "'%s' is not a pid", text);
		if (err && isalpha((unsigned char)*text))
			hint_pids(text, err);
		return -USPL_E_USAGE;
	}
	*ret_pid = (pid_t)value;
	return 0;
}

int cli_add_pid(pid_vec *pids, pid_t pid, struct uspl_err *err)
{
	pid_t *item = vec_push(pids);

	if (!item)
		return uspl_fail_nomem(err);
	*item = pid;
	return 0;
}

int cli_pids(char **words, int n, pid_vec *pids, struct uspl_err *err)
{
	for (int i = 0; i < n; i++) {
		pid_t *pid = vec_push(pids);
		int rc = pid ? cli_pid(words[i], pid, err) : uspl_fail_nomem(err);

		if (rc)
			return rc;
	}
	return 0;
}
