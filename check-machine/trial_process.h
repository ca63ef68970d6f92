/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial_process.h - processes of our own on which the machine is tried
 *
 *     trial_start    a child of the caller that sleeps, and has a second thread
 *     trial_do       that thread does something else
 *     trial_end
 *
 * The process that tries is another child of the same parent, so that the trial is no child of its
 * own: Yama lets all processes trace their children (Documentation/admin-guide/LSM/Yama.rst), and
 * the question is whether others may be traced. A trial ends with its parent.
 */
#ifndef USPL_CHECK_MACHINE_TRIAL_PROCESS_H
#define USPL_CHECK_MACHINE_TRIAL_PROCESS_H

#include "base/error.h"

enum trial_kind {
	TRIAL_PLAIN,
	TRIAL_CONFINED, /* under a seccomp filter that allows everything */
	TRIAL_SHADOWED, /* with a shadow stack; it has no second thread */
};

/* What the second thread does. */
enum trial_job {
	TRIAL_SLEEP,
	TRIAL_RUN,   /* in the program's code, without system calls */
	TRIAL_PASS,  /* calls trial_pass once, and sleeps */
	TRIAL_WAKE,  /* runs a little, sleeps a millisecond, and again */
	TRIAL_SHARE, /* has a child that shares the memory, as vfork() makes it */
};

/* Shared with the trial. */
struct trial_page {
	_Atomic uint32_t job;    /* enum trial_job */
	_Atomic uint32_t done;   /* counts jobs that have begun */
	_Atomic uint32_t passed; /* calls of trial_pass */
	_Atomic int32_t tid;     /* of the second thread */
	_Atomic uint64_t sp;     /* the stack pointer at the entry of trial_pass */
	volatile int64_t answer; /* what the kernel said to what the kind asks for; TRIAL_OPEN */
};

/*
 * For how long a trial is waited for. On a machine with much to do it may have no processor for
 * seconds, and that isn't what is asked.
 */
#define TRIAL_PATIENCE_NS 30000000000ll

/* Not answered yet. */
#define TRIAL_OPEN 1

struct trial {
	pid_t pid; /* 0: not started */
	struct trial_page *page;
};

/*
 * Starts a trial, and waits until it is ready. page->answer says whether the kernel let it become
 * what its kind asks for: 0, or a negative errno. trial_end follows unless this fails.
 */
int trial_start(struct trial *trial, enum trial_kind kind, struct uspl_err *err) uspl_must_check;
/* Ends it, in the process that has started it; one that wasn't started is fine. */
void trial_end(struct trial *trial);
/*
 * Tells the second thread what to do, and waits until it has begun. USPL_E_SYSTEM if that takes
 * longer than TRIAL_PATIENCE_NS.
 */
int trial_do(const struct trial *trial, enum trial_job job, struct uspl_err *err) uspl_must_check;

/* What TRIAL_PASS calls: functions of the program's own that can be traced, and have a branch. */
void trial_pass(struct trial_page *page);
void trial_work(struct trial_page *page);

#endif
