/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * child_output.h - what a child prints, kept until its parent passes it on
 *
 * In files of the memory's. So children that work side by side don't mix their lines, and one that
 * is left behind doesn't keep everybody waiting who reads the command's own.
 */
#ifndef USPL_MACHINE_CHILD_OUTPUT_H
#define USPL_MACHINE_CHILD_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

struct child_output {
	int out, err;
	off_t out_passed, err_passed; /* so much of them was passed on */
};

/* False if the kernel has no room for such files; errno says more. */
bool child_output_open(struct child_output *ret);
/* What was not passed on is gone then. */
void child_output_close(struct child_output *output);
/* In the child: it prints there from now on. False if that can't be. */
bool child_output_enter(const struct child_output *output);
/* Passes on what has been printed since the last time. False if it can't be written. */
bool child_output_pass_on(struct child_output *output);
/* The same, to these places of the two files at most. */
bool child_output_pass_on_to(struct child_output *output, off_t out, off_t err);

#endif
