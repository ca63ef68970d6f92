// SPDX-License-Identifier: GPL-3.0-or-later
// perf.c - what the kernel tells of all threads of a process, without stopping any
/*
 * An event that threads inherit can only be opened for one processor (kernel/events/core.c,
 * perf_mmap), so there is one for each thread and each processor. All of a processor go to one
 * ring: that of a leader, which counts nothing, belongs to this process, and so outlives every
 * thread.
 *
 * Kernels before 5.13 don't know inherit_thread: children that the process forks inherit, too.
 * There what is told of other processes is left out when it is read.
 *
 * A thread that is made while we open may have inherited an event from its maker, or not. We open
 * one of its own in any case; what is told twice then is sorted out when it is read (perf_note.c).
 */

#include "perf/perf.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "perf/tracefs.h"

#define EVERYBODY (-1)
#define OURSELVES 0
#define FORMAT_LOST (1u << 4) /* PERF_FORMAT_LOST, which headers have since Linux 6.0 */
#define ROUNDS 50             /* of looking for new threads */

static struct perf_event_attr complete(const struct perf_event_attr *kind, bool inherit)
{
	struct perf_event_attr attr = *kind;

	attr.size = sizeof(attr);
	attr.sample_type |=
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr.sample_id_all = 1;
	attr.disabled = 1;
	attr.inherit = inherit;
	attr.inherit_thread = inherit;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.exclude_hv = 1;
	attr.read_format = inherit ? FORMAT_LOST : 0;
	return attr;
}

static int fail_open(pid_t tid, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	int cause = errno, rc;
	bool have;

	if (cause == EMFILE || cause == ENFILE) {
		rc = uspl_fail_errno(err, "cannot open enough perf events: one for each thread on "
					  "each processor");
		uspl_hint(err, "a higher limit on open files (ulimit -n) allows more");
		return rc;
	}
	if (tid == EVERYBODY)
		rc = uspl_fail_errno(err, "cannot open a perf event for all processes");
	else if (tid == OURSELVES)
		rc = uspl_fail_errno(err, "cannot open a perf event");
	else
		rc = uspl_fail_errno(err, "cannot open a perf event for thread %d", tid);
	if (cause != EACCES && cause != EPERM)
		return rc;
	have = file_read("/proc/sys/kernel/perf_event_paranoid", &text, NULL) == 0;
	uspl_hint(err,
		  "it takes CAP_PERFMON, or a lower kernel.perf_event_paranoid (it is %d); "
		  "containers often forbid it altogether",
		  have ? atoi(buf_str(&text)) : 0);
	return rc;
}

/* The ring of one processor; a processor that is not online has none. */
static int open_leader(struct perf *perf, int cpu, size_t room, struct uspl_err *err)
{
	struct perf_event_attr attr = complete(
		&(const struct perf_event_attr){
			.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_DUMMY,
			.exclude_kernel = 1,
			.watermark = 1,
		},
		false);
	int *leader = vec_push(&perf->leaders), rc;
	struct perf_ring *ring = vec_push(&perf->rings);

	if (leader)
		*leader = -1;
	if (!leader || !ring)
		return uspl_fail_nomem(err);
	for (;; room /= 2) {
		attr.wakeup_watermark = (uint32_t)(room / 2);
		*leader = perf_event_fd(&attr, OURSELVES, cpu);
		if (*leader < 0)
			return errno == ENODEV ? 0 : fail_open(OURSELVES, err);
		rc = perf_ring_map(ring, *leader, room, err);
		/* EPERM: more than kernel.perf_event_mlock_kb. */
		if (rc != -USPL_E_PERMISSION || room <= PAGE)
			return rc;
		close(*leader);
	}
}

static int open_one(struct perf *perf, uint32_t kind, pid_t tid, size_t cpu, struct uspl_err *err)
{
	struct perf_event *event = vec_push(&perf->events);

	if (!event)
		return uspl_fail_nomem(err);
	event->kind = kind;
	event->tid = tid;
	event->fd = perf_event_fd(&perf->kinds[kind].attr, tid, (int)cpu);
	if (event->fd < 0 && errno == EINVAL && perf->kinds[kind].attr.read_format) {
		/* As before 6.0. */
		perf->kinds[kind].attr.read_format = 0;
		event->fd = perf_event_fd(&perf->kinds[kind].attr, tid, (int)cpu);
	}
	if (event->fd < 0 && errno == EINVAL && perf->kinds[kind].attr.inherit_thread) {
		/*
		 * As before 5.13, for this kind and all threads. If that isn't the cause, it fails
		 * once more.
		 */
		perf->kinds[kind].attr.inherit_thread = 0;
		event->fd = perf_event_fd(&perf->kinds[kind].attr, tid, (int)cpu);
	}
	if (event->fd < 0 && errno == ESRCH) {
		perf->events.n--;
		return 0;
	}
	if (event->fd < 0)
		return fail_open(tid, err);
	if (ioctl(event->fd, PERF_EVENT_IOC_SET_OUTPUT, perf->leaders.items[cpu]) ||
	    ioctl(event->fd, PERF_EVENT_IOC_ID, &event->id))
		return uspl_fail_errno(err, "cannot lead the kernel's notes into one ring");
	return 0;
}

/* The kinds that are for this thread, or for all processes. */
static int open_for(struct perf *perf, pid_t tid, struct uspl_err *err)
{
	int rc = 0;

	for (size_t cpu = 0; cpu < perf->leaders.n; cpu++)
		for (uint32_t kind = 0; kind < perf->n_kinds; kind++)
			if (perf->leaders.items[cpu] >= 0 &&
			    perf->kinds[kind].everybody == (tid == EVERYBODY)) {
				rc = open_one(perf, kind, tid, cpu, err);
				if (rc)
					return rc;
			}
	return 0;
}

static bool is_among(const tid_vec *tids, pid_t tid)
{
	const pid_t *known;

	vec_for_each (tids, known)
		if (*known == tid)
			return true;
	return false;
}

/* Opens for all threads, until a look finds no new one. */
static int open_threads(struct perf *perf, const struct proc *proc, struct uspl_err *err)
{
	auto_vec tid_vec known = { 0 };
	bool more = true;
	int rc = 0;

	for (int round = 0; more && round < ROUNDS; round++) {
		tid_vec now = { 0 };
		const pid_t *tid;

		more = false;
		rc = tasks_list(proc, &now, err);
		vec_for_each (&now, tid) {
			pid_t *place = rc || is_among(&known, *tid) ? NULL : vec_push(&known);

			if (!place)
				continue;
			*place = *tid;
			more = true;
			rc = open_for(perf, *tid, err);
		}
		vec_release(&now);
		if (rc)
			return rc;
	}
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct perf_event *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

int perf_open(struct perf *perf, const struct proc *proc, const struct perf_kind *kinds,
	      size_t n_kinds, size_t room, struct uspl_err *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct rlimit limit;
	int rc;

	*perf = (struct perf){ .pid = proc->pid,
			       .kinds = calloc(n_kinds, sizeof(*kinds)),
			       .n_kinds = n_kinds };
	if (!perf->kinds)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < n_kinds; i++)
		perf->kinds[i] = (struct perf_kind){
			.attr = complete(&kinds[i].attr, !kinds[i].everybody),
			.everybody = kinds[i].everybody,
		};
	/* There is a descriptor for each thread on each processor: as many as we may have. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		rc = open_leader(perf, cpu, room, err);
		if (rc)
			return rc;
	}
	rc = open_for(perf, EVERYBODY, err);
	if (rc)
		return rc;
	rc = open_threads(perf, proc, err);
	if (rc)
		return rc;
	if (!perf->events.n)
		return uspl_fail(err, USPL_E_NO_PROCESS, "pid %d has no threads", proc->pid);
	qsort(perf->events.items, perf->events.n, sizeof(*perf->events.items), by_id);
	return 0;
}

void perf_close(struct perf *perf)
{
	for (size_t i = 0; i < perf->rings.n; i++)
		perf_ring_unmap(&perf->rings.items[i]);
	for (size_t i = 0; i < perf->events.n; i++)
		if (perf->events.items[i].fd >= 0)
			close(perf->events.items[i].fd);
	for (size_t i = 0; i < perf->leaders.n; i++)
		if (perf->leaders.items[i] >= 0)
			close(perf->leaders.items[i]);
	vec_release(&perf->rings);
	vec_release(&perf->leaders);
	vec_release(&perf->events);
	free(perf->kinds);
	free(perf->sources);
	perf->kinds = NULL;
	perf->sources = NULL;
}

int perf_permits(const struct proc *proc, const struct perf_kind *kind, struct uspl_err *err)
{
	const struct perf_event_attr attr = complete(&kind->attr, false);
	auto_vec tid_vec tids = { 0 };
	const pid_t *tid;
	int rc = tasks_list(proc, &tids, err);

	if (rc)
		return rc;
	vec_for_each (&tids, tid) {
		auto_close int fd = perf_event_fd(&attr, *tid, -1);

		if (fd >= 0)
			return 0;
		/* A thread that has ended says nothing of the others. */
		if (errno != ESRCH)
			return fail_open(*tid, err);
	}
	return uspl_fail(err, USPL_E_NO_PROCESS, "pid %d has no threads", proc->pid);
}

int perf_enable(struct perf *perf, struct uspl_err *err)
{
	const struct perf_event *event;

	vec_for_each (&perf->events, event)
		if (ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
			return uspl_fail_errno(err, "cannot switch a perf event on");
	return 0;
}

void perf_count_lost(struct perf *perf)
{
	const struct perf_event *event;
	uint64_t sum = 0;

	vec_for_each (&perf->events, event) {
		uint64_t values[2]; /* its count, and what it has lost */

		if (perf->kinds[event->kind].attr.read_format &&
		    read(event->fd, values, sizeof(values)) == sizeof(values))
			sum += values[1];
	}
	perf->lost = sum > perf->lost ? sum : perf->lost;
}

int perf_tracepoint(const char *system, const char *name, struct perf_event_attr *ret,
		    struct uspl_err *err)
{
	uint64_t id;
	int rc = tracefs_id(system, name, &id, err);

	if (rc)
		return rc;
	*ret = (struct perf_event_attr){ .type = PERF_TYPE_TRACEPOINT,
					 .config = id,
					 .sample_period = 1,
					 .sample_type = PERF_SAMPLE_RAW };
	return 0;
}

int perf_syscalls(struct perf_event_attr *ret_enter, struct perf_event_attr *ret_exit,
		  struct uspl_err *err)
{
	int rc = perf_tracepoint("raw_syscalls", "sys_enter", ret_enter, err);

	return rc ? rc : perf_tracepoint("raw_syscalls", "sys_exit", ret_exit, err);
}
