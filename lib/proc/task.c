// SPDX-License-Identifier: GPL-3.0-or-later
// task.c - what /proc tells of the threads of a process

#include "proc/task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/regs.h"
#include "base/file.h"
#include "base/text.h"
#include "proc/proc_status.h"

/* Links of a folder of /proc that aren't its threads: "." and its entry in the parent. */
#define OTHER_LINKS 2

void task_name(const struct proc *proc, pid_t tid, char ret[TASK_NAME_LEN])
{
	auto_buf struct buf text = { 0 }, shown = { 0 };
	char path[64];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", proc->pid, tid);
	if (file_read(path, &text, NULL) != 0)
		buf_addstr(&text, "?");
	len = text.len;
	/* The kernel's; the name may have others in it. */
	len -= len && text.data[len - 1] == '\n';
	text_add_printable(&shown, buf_str(&text), len, false);
	snprintf(ret, TASK_NAME_LEN, "%s", buf_str(&shown));
}

int64_t task_run_ns(const struct proc *proc, pid_t tid)
{
	auto_buf struct buf text = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", proc->pid, tid);
	return file_read(path, &text, NULL) == 0 && text.len ? atoll(buf_str(&text)) : -1;
}

pid_t task_inner_id(const struct proc *proc, pid_t tid)
{
	auto_buf struct buf status = { 0 };
	const char *ids, *end;

	if (!task_status(proc, tid, &status))
		return 0;
	ids = task_status_field(&status, "NSpid");
	if (!ids)
		return tid;
	end = ids + strcspn(ids, "\n");
	while (end > ids && end[-1] != '\t')
		end--;
	return (pid_t)atol(end);
}

int tasks_list(const struct proc *proc, tid_vec *ret, struct uspl_err *err)
{
	char path[64];
	auto_closedir DIR *dir = NULL;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", proc->pid);
	dir = opendir(path);
	if (!dir)
		return uspl_fail(err, USPL_E_NO_PROCESS, "pid %d has exited", proc->pid);
	while ((entry = readdir(dir))) {
		pid_t tid = (pid_t)atol(entry->d_name), *item;

		if (tid <= 0)
			continue;
		item = vec_push(ret);
		if (!item)
			return uspl_fail_nomem(err);
		*item = tid;
	}
	return 0;
}

size_t tasks_linked(const struct stat *task)
{
	return task->st_nlink > OTHER_LINKS ? (size_t)task->st_nlink - OTHER_LINKS : 0;
}

size_t tasks_count(const struct proc *proc)
{
	struct stat task;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", proc->pid);
	return stat(path, &task) == 0 ? tasks_linked(&task) : 0;
}

bool task_status(const struct proc *proc, pid_t tid, struct buf *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", proc->pid, tid);
	return file_read(path, text, NULL) == 0;
}

const char *task_status_field(const struct buf *text, const char *name)
{
	size_t len = strlen(name);
	const char *line = buf_str(text);

	while (line && (strncmp(line, name, len) != 0 || line[len] != ':')) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return line ? line + len + 1 : NULL;
}

bool task_has_children(const struct proc *proc, pid_t tid)
{
	char path[64], first;
	auto_close int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", proc->pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, &first, 1) == 1;
}

bool task_reaps(const struct proc *proc)
{
	enum { STAT_CMINFLT = 11 };
	auto_buf struct buf text = { 0 };
	const char *faults = task_stat(proc, proc_task(proc), STAT_CMINFLT, &text);

	return faults && strtoul(faults, NULL, 10);
}

static uint64_t read_signals(const struct proc *proc, pid_t tid, const char *name, uint64_t unknown)
{
	auto_buf struct buf text = { 0 };
	const char *mask = task_status(proc, tid, &text) ? task_status_field(&text, name) : NULL;

	return mask ? strtoull(mask, NULL, 16) : unknown;
}

uint64_t task_blocked_signals(const struct proc *proc, pid_t tid)
{
	return read_signals(proc, tid, "SigBlk", ~0ull);
}

uint64_t task_pending_signals(const struct proc *proc)
{
	return read_signals(proc, proc_task(proc), "ShdPnd", 0);
}

const char *task_stat(const struct proc *proc, pid_t tid, int field, struct buf *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", proc->pid, tid);
	return file_read(path, text, NULL) == 0 ? proc_stat_field(buf_str(text), field) : NULL;
}

int task_processor(const struct proc *proc, pid_t tid)
{
	enum { STAT_PROCESSOR = 39 }; /* proc(5) */
	auto_buf struct buf text = { 0 };
	const char *processor = task_stat(proc, tid, STAT_PROCESSOR, &text);

	return processor ? atoi(processor) : -1;
}

char task_state(const struct proc *proc, pid_t tid)
{
	auto_buf struct buf text = { 0 };
	const char *state = task_stat(proc, tid, PROC_STAT_STATE, &text);

	return state ? *state : '?';
}

bool task_sleeps(const struct proc *proc, pid_t tid)
{
	return task_state(proc, tid) != 'R';
}

enum task_rank task_rank(const struct proc *proc, pid_t tid)
{
	auto_buf struct buf text = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", proc->pid, tid);
	if (file_read(path, &text, NULL) != 0)
		return RANK_WORST;
	if (task_has_children(proc, tid))
		return RANK_PARENT;
	if (!strncmp(buf_str(&text), "running", 7))
		return RANK_RUNS;
	return syscall_restarts_unseen(strtol(buf_str(&text), NULL, 0)) ? RANK_ASLEEP : RANK_TIMED;
}
