/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ask.h - the questions: each is put to the kernel by the call that the other commands make
 *
 * Nothing is concluded from version numbers, and where another command asks the same thing, both
 * call the same function. Each of these adds its answers, in the order of
 * docs/man/uspl-check-machine.1.md.
 */
#ifndef USPL_CHECK_MACHINE_ASK_H
#define USPL_CHECK_MACHINE_ASK_H

#include "check-machine/answers.h"
#include "check-machine/trial_process.h"
#include "proc/module.h"

/* What the machine is tried on. */
struct ask {
	struct answers answers, process; /* about the machine; about a process */
	struct trial plain, confined, shadowed;
	struct uspl_err no_confined,
		no_shadowed; /* why that could not be started; code 0: it was */
	struct proc *proc;   /* the plain one, open; NULL: it can't be */
	module_vec modules;  /* its modules */
};

/* Opens the plain trial and does what an apply does to a process: the vital answers. */
void ask_job(struct ask *ask);
/* Whether threads can be left alone in a switch, and how busy ones are awaited. */
void ask_stopless(struct ask *ask);
/* perf events, and what of the kernel they may show. */
void ask_perf(struct ask *ask);
/* What the kernel counts and tells of threads. */
void ask_counts(struct ask *ask);
/* Processes of other sorts: under seccomp, with shadow stacks, with memory shared with others. */
void ask_sorts(struct ask *ask);
/* The user's rights, and where this program runs. */
void ask_rights(struct ask *ask);
/* Each tracer, as uspl-trace runs it. */
void ask_tracers(struct ask *ask);
/*
 * What would stop an update or a trace of a process; ask_sorts was called before. The process is
 * only looked at. USPL_E_NO_PROCESS if there is none, or another failure for which there is no
 * answer.
 */
int ask_process(struct ask *ask, pid_t pid, struct uspl_err *err) uspl_must_check;

/* USPL_E_NO_PROCESS if there is no such process. */
int ask_exists(pid_t pid, struct uspl_err *err) uspl_must_check;
/* A thread of the trial maps memory for us, and unmaps it. */
int ask_try_map(struct proc *proc, struct uspl_err *err) uspl_must_check;
/* The text of a file of /proc or /sys without its line end, "" if it can't be read. */
void ask_read_line(const char *path, char *ret, size_t len);

#endif
