// SPDX-License-Identifier: GPL-3.0-or-later
// runcount.c - how often threads have been put on a processor

#include "thread/runcount.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file.h"

static int open_schedstat(const struct proc *proc, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", proc->pid, tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void runcount_open(struct runcount *count, const struct proc *proc, pid_t tid)
{
	struct rlimit limit;

	*count = (struct runcount){ .tid = tid, .fd = open_schedstat(proc, tid) };
	/* Half of the descriptors that the tool may have are for other uses. */
	if (count->fd >= 0 &&
	    (getrlimit(RLIMIT_NOFILE, &limit) != 0 || (rlim_t)count->fd >= limit.rlim_cur / 2))
		runcount_close(count);
}

void runcount_close(struct runcount *count)
{
	if (count->fd >= 0)
		close(count->fd);
	count->fd = -1;
}

static uint64_t read_schedstat(int fd)
{
	char text[128];
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
	uint64_t runs;

	if (got <= 0)
		return RUNCOUNT_NONE;
	text[got] = '\0';
	return sscanf(text, "%*u %*u %" SCNu64, &runs) == 1 ? runs : RUNCOUNT_NONE;
}

/* That of the calling thread: never RUNCOUNT_NONE if the kernel counts, since it does run. */
static uint64_t own_count(void)
{
	auto_close int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	return read_schedstat(fd);
}

bool runcount_is_kept(void)
{
	return own_count() != RUNCOUNT_NONE;
}

uint64_t runcount_read(const struct runcount *count, const struct proc *proc)
{
	auto_close int opened = count->fd < 0 ? open_schedstat(proc, count->tid) : -1;

	return read_schedstat(count->fd < 0 ? opened : count->fd);
}

/*
 * taskstats looks ids up in the pid namespace of the caller, /proc shows those of the namespace
 * that it was mounted for. They are the same if /proc knows the tool by one id only (NSpid lists
 * one for each namespace from that of /proc down to the tool's own).
 */
static bool proc_is_ours(void)
{
	auto_buf struct buf text = { 0 };
	const char *line;
	int first, second;

	if (file_read("/proc/self/status", &text, NULL) != 0)
		return false;
	line = strstr(buf_str(&text), "\nNSpid:");
	return line && sscanf(line, " NSpid: %d%*[ \t]%d", &first, &second) == 1 &&
	       first == getpid();
}

/* Compares what taskstats says of the calling thread with its schedstat. */
static bool agrees(struct runsum *sum)
{
	uint64_t before = own_count(), runs;

	return before != RUNCOUNT_NONE && taskstats_thread_runs(&sum->link, gettid(), &runs) &&
	       before <= runs && runs <= own_count();
}

int runcount_sum_open(struct runsum *sum, const struct proc *proc, struct uspl_err *err)
{
	int rc = taskstats_open(&sum->link, err);

	if (rc)
		return rc;
	sum->pid = proc->pid;
	if (proc_is_ours() && agrees(sum))
		return 0;
	runcount_sum_close(sum);
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "the kernel does not tell the run counts of pid %d as one sum", proc->pid);
}

void runcount_sum_close(struct runsum *sum)
{
	taskstats_close(&sum->link);
}

bool runcount_sum_read(struct runsum *sum, uint64_t *ret)
{
	return taskstats_process_runs(&sum->link, sum->pid, ret);
}
