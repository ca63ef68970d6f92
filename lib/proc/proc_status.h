/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * proc_status.h - the lines of /proc/PID/status (proc(5)) that decide whether the tool can work
 * with a process, and the fields of /proc/PID/stat
 */
#ifndef USPL_PROC_PROC_STATUS_H
#define USPL_PROC_PROC_STATUS_H

#include <stdbool.h>
#include <sys/types.h>

struct proc_status {
	char state;   /* the letter of the thread's state; 0 if the text has none */
	pid_t tgid;   /* the process; 0 if the text has none */
	pid_t tracer; /* 0: none */
	int seccomp;  /* 0 none, 1 strict, 2 filter */
	/*
	 * The thread uses a shadow stack: "shstk" is among its x86_Thread_features. Kernels have
	 * this line since 6.6, with CONFIG_X86_USER_SHADOW_STACK; it is empty for most processes.
	 */
	bool shadow_stack;
	bool catches_sigsys; /* it has a handler for SIGSYS ("SigCgt") */
	uid_t uid;           /* the effective user; -1 if the text has none */
	bool has_memory;     /* kernel threads and exiting ones have none */
};

/* Parses the text. What isn't there is 0 and false. */
void proc_status_parse(const char *text, struct proc_status *ret);
/*
 * Of the text of /proc/PID/stat a field and what follows it; fields count from 1 as in
 * proc_pid_stat(5), and are behind the name in parentheses, which may hold anything. NULL if it
 * isn't there.
 */
const char *proc_stat_field(const char *text, int field);

/* Some of them. */
enum { PROC_STAT_STATE = 3, PROC_STAT_STARTTIME = 22 };

#endif
