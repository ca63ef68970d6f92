/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * goals.h - what tells that an enabled update may be for a process
 *
 * Names and build-ids of programs, and names of libraries: no more of the updates is kept. They are
 * compared with what /proc says to all users, and the notes of a program's file. That is a hint, as
 * cheap as possible for each program that is executed; uspl-apply finds out whether the update is
 * for the process, and is lacking.
 */
#ifndef USPL_MACHINE_DAEMON_GOALS_H
#define USPL_MACHINE_DAEMON_GOALS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/strmap.h"
#include "base/strvec.h"

struct goals {
	size_t n_updates;    /* that can be read */
	strvec programs;     /* "redis-server" */
	strvec build_ids;    /* in hex, of programs and libraries */
	strvec libraries;    /* file names and sonames: "libz.so.1.2.13", "libz.so.1" */
	strvec superseded;   /* enabled, but a package has the fix: "ID SOURCE VERSION" */
	bool of_packages;    /* some update is of a package, and may come to be superseded */
	struct strmap files; /* of programs: what was found out about them */
};

/*
 * Reads the updates that are enabled, in a child, so that their contents are never in this process.
 * One that is damaged is told of on stderr, and left out; one that is superseded, and isn't to be
 * kept then, is left out, too. Errors of wanted_read.
 */
int goals_read(struct goals *ret, struct uspl_err *err) uspl_must_check;
void goals_release(struct goals *goals);

enum goal {
	GOAL_NONE,    /* no update is for its program */
	GOAL_PROGRAM, /* one may be */
	GOAL_LIBRARY, /* one may be for a library that it has mapped */
	GOAL_OURS,    /* it runs this program: a tool at work */
	GOAL_GONE,    /* there is no such process any more */
};

/* What is known of a process by its program alone: all there is at the moment that it begins. */
enum goal goals_judge_program(struct goals *goals, pid_t pid);
/*
 * The same where the process has just executed it: if the file is known, only the name that it was
 * executed by is looked at. A later look finds what that leaves out, such as another argv[0].
 */
enum goal goals_judge_exec(struct goals *goals, pid_t pid);
/*
 * No update is for the program and the libraries of the process, whatever their names: for as long
 * as their files stay as they are, no process is a goal by them.
 */
void goals_rule_out(struct goals *goals, pid_t pid);
/* And by its libraries. The path of one that it has mapped is left in ret_library. */
enum goal goals_judge_process(struct goals *goals, pid_t pid, struct buf *ret_library);

#endif
