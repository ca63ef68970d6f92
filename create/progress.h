/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.h - a line on the terminal that says how far the builds have come */
#ifndef USPL_CREATE_PROGRESS_H
#define USPL_CREATE_PROGRESS_H

struct build_options;

/* What is on the terminal's last line. */
struct progress_line {
	int width;
};

/*
 * Asks the builds to report to the line; not at all if standard error is no terminal, or with -q.
 */
void progress_ask(struct progress_line *line, struct build_options *options);

#endif
