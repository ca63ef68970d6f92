// SPDX-License-Identifier: GPL-3.0-or-later
// progress.c - a line on the terminal that says how far the builds have come
//
// The line is written over itself, without any sequence that a terminal would have to know.

#include "base/cli.h"
#include "create/progress.h"
#include "create/tree/build.h"

#include <unistd.h>

static void show(const struct build_progress *progress, void *ctx)
{
	struct progress_line *line = ctx;
	int old = line->width;

	if (!progress && old)
		fprintf(stderr, "\r%*s\r", old, "");
	if (!progress) {
		line->width = 0;
		return;
	}
	line->width =
		fprintf(stderr, "\r%s: %zu object%s, %.0f s", progress->phase, progress->objects,
			progress->objects == 1 ? "" : "s", progress->seconds);
	line->width = line->width > 0 ? line->width - 1 : 0;
	if (line->width < old)
		fprintf(stderr, "%*s", old - line->width, "");
}

void progress_ask(struct progress_line *line, struct build_options *options)
{
	if (cli_quiet() || !isatty(STDERR_FILENO))
		return;
	options->progress = show;
	options->progress_ctx = line;
}
