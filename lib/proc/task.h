/* SPDX-License-Identifier: GPL-3.0-or-later */
/* task.h - what /proc tells of the threads of a process, while they run */
#ifndef USPL_PROC_TASK_H
#define USPL_PROC_TASK_H

#include <sys/stat.h>

#include "base/buf.h"
#include "proc/proc.h"

typedef VEC(pid_t) tid_vec;

/*
 * A field of /proc/PID/task/TID/stat and what follows it (proc_stat_field). NULL if it can't be
 * read; points into text.
 */
const char *task_stat(const struct proc *proc, pid_t tid, int field, struct buf *text);
/*
 * Reads /proc/PID/task/TID/status (proc(5)); false if the thread is gone. task_status_field gives
 * what follows a field's name and colon there, as "\t0\n...", NULL if this kernel hasn't the field.
 */
bool task_status(const struct proc *proc, pid_t tid, struct buf *text) uspl_must_check;
const char *task_status_field(const struct buf *text, const char *name);
/*
 * The thread's id as the process itself knows it, in its own pid namespace (NSpid, proc(5)). The
 * same number where the kernel doesn't tell; 0 if the thread is gone.
 */
pid_t task_inner_id(const struct proc *proc, pid_t tid);
/* As long as the kernel's names are; each byte may be shown as four. */
#define TASK_NAME_LEN 64
/* The thread's name as a terminal may be shown it, "?" if it can't be read. */
void task_name(const struct proc *proc, pid_t tid, char ret[TASK_NAME_LEN]);
/* All thread ids of the process at this moment. */
int tasks_list(const struct proc *proc, tid_vec *ret, struct uspl_err *err) uspl_must_check;
/*
 * How many there are, including those that have died and haven't been waited for: what the kernel
 * counts as links of /proc/PID/task. 0 if that isn't known. A thousand are counted as quickly as
 * one, in a microsecond or two.
 */
size_t tasks_count(const struct proc *proc);
/* The same by what stat(2) says of the folder. */
size_t tasks_linked(const struct stat *task);
/* The processor that it runs on, or ran on last; -1 if it is gone. */
int task_processor(const struct proc *proc, pid_t tid);
/*
 * For how long it has been on a processor, in nanoseconds: the first figure of schedstat
 * (sched-stats.rst). -1 if that isn't known.
 */
int64_t task_run_ns(const struct proc *proc, pid_t tid);
/* The letter of its state (proc(5)); '?' if it is gone. */
char task_state(const struct proc *proc, pid_t tid);
/* True if it isn't running at the moment, nor wants to. */
bool task_sleeps(const struct proc *proc, pid_t tid);
/*
 * How well a thread is suited to be stopped for a job, lower is better: asleep in a system call
 * that restarts as if nothing had happened; running; asleep in a call whose restart may lengthen a
 * time-out or cut a transfer short; one with children, whose ends may disturb other threads
 * meanwhile (task_has_children); gone. 12 us.
 */
enum task_rank { RANK_ASLEEP, RANK_RUNS, RANK_TIMED, RANK_PARENT, RANK_WORST, TASK_RANKS };
enum task_rank task_rank(const struct proc *proc, pid_t tid);
/*
 * True if this thread is the parent of children of the process: those that it has forked, as a rule
 * (/proc/PID/task/TID/children, CONFIG_PROC_CHILDREN). The kernel gives SIGCHLD to the parent, and
 * drops it where it is ignored, which is the default; but not if that thread is traced
 * (sig_ignored() in kernel/signal.c). Then any thread of the process that doesn't block SIGCHLD may
 * be woken by it, and calls like epoll_wait end with EINTR.
 */
bool task_has_children(const struct proc *proc, pid_t tid);
/* True if the process has waited for children: their page faults are counted (proc(5)). */
bool task_reaps(const struct proc *proc);
/* The signals that it blocks, a bit for each; 0 for a thread that is gone. */
uint64_t task_blocked_signals(const struct proc *proc, pid_t tid);
/* Those that wait for any of its threads to take them. */
uint64_t task_pending_signals(const struct proc *proc);

#endif
