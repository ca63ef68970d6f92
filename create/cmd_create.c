// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_create.c - uspl-create: from a source diff to an update

#include <signal.h>
#include <string.h>
#include <time.h>

#include "create/build.h"
#include "create/describe.h"
#include "create/options.h"
#include "create/progress.h"
#include "create/targets.h"
#include "uspl/commands.h"

static char *now_text(void)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[32];

	if (!gmtime_r(&now, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return NULL;
	return strdup(text);
}

/* Moves what an update says about itself into it. */
static int describe(const struct create_options *options, struct build *build,
		    struct update *update, struct uspl_err *err)
{
	update->id = strdup(options->id);
	update->description =
		options->description ? strdup(options->description) : describe_patch(build->patch);
	update->created = now_text();
	update->tool = strdup("uspl " USPL_VERSION);
	update->patch = take_ptr(build->patch);
	update->patch_len = build->patch_len;
	if (!update->id || !update->description || !update->created || !update->tool)
		return uspl_fail_nomem(err);
	return 0;
}

static void print_notes(const struct build *build)
{
	char **text;

	vec_for_each (&build->notes, text)
		fprintf(stderr, "note: %s\n", *text);
}

static void print_warnings(const struct report *report)
{
	char **text;

	vec_for_each (&report->warnings, text)
		fprintf(stderr, "warning: %s\n", *text);
}

static int create(const struct create_options *options, struct uspl_err *err)
{
	auto_build struct build *build = NULL;
	auto_update struct update *update = update_new();
	auto_report struct report report = { .explain = options->explain };
	auto_free char *path = NULL;
	int rc = update ? 0 : uspl_fail_nomem(err);

	if (!rc && !options->dry_run)
		rc = options_output(options, &path, err);
	if (!rc)
		rc = build_run(&options->build, &build, err);
	if (!rc)
		rc = describe(options, build, update, err);
	if (!rc)
		rc = targets_add(build, &options->targets, update, &report, err);
	if (build)
		print_notes(build);
	/* What is refused for another reason needs no warnings. */
	if (!rc)
		print_warnings(&report);
	if (!rc && path)
		rc = update_write(update, path, err);
	if (!rc)
		printf("%s", buf_str(&report.explanation));
	if (!rc && path)
		printf("%s\n", path);
	return rc;
}

/*
 * ^C and its like are held back while there is a work folder: a running build ends on them
 * (build_phase.c), the folder is removed, and then they do what they always do.
 */
static void hold_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(how, &set, NULL);
}

int cmd_create(int argc, char **argv, struct uspl_err *err)
{
	auto_options struct create_options options = { 0 };
	struct progress_line line = { 0 };
	int rc = options_parse(argc, argv, &options, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	progress_ask(&line, &options.build);
	hold_signals(SIG_BLOCK);
	rc = create(&options, err);
	hold_signals(SIG_UNBLOCK);
	return rc;
}
