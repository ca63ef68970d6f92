// SPDX-License-Identifier: GPL-3.0-or-later
// kernel_watch_test.c - what the kernel tells of this process itself: each system call, each time
// off the processor and each page that was touched, between the ticks that were read around it

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "base/file.h"
#include "tap.h"
#include "trace/watch/kernel_watch.h"

#define PAGES 16
#define CALLS 50

/* What was done, and between which ticks. */
struct deed {
	uint64_t from, to;
	pid_t tid;
};

static uint64_t now(void)
{
	return arch_native()->ticks();
}

/* The events of a kind within a deed, by its thread; nr: of system calls, of that number only. */
static size_t count(const kernel_events *events, const struct deed *deed, enum kernel_kind kind,
		    int nr)
{
	const struct kernel_event *event;
	size_t n = 0;

	vec_for_each (events, event)
		n += event->tid == deed->tid && event->kind == kind && event->nr == nr &&
		     event->start >= deed->from && event->end <= deed->to &&
		     event->end >= event->start;
	return n;
}

/* One of them; of times off, one that it was blocked. */
static const struct kernel_event *find(const kernel_events *events, const struct deed *deed,
				       enum kernel_kind kind, int nr)
{
	const struct kernel_event *event;

	vec_for_each (events, event)
		if (event->tid == deed->tid && event->kind == kind && event->nr == nr &&
		    event->start >= deed->from && event->end <= deed->to &&
		    !(event->flags & KERNEL_PREEMPTED))
			return event;
	return NULL;
}

static struct deed call_parent(void)
{
	struct deed deed = { .tid = gettid() };

	deed.from = now();
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	deed.to = now();
	return deed;
}

static struct deed nap(void)
{
	const struct timespec ms = { 0, 1000000 };
	struct deed deed = { .tid = gettid() };

	deed.from = now();
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ms, NULL);
	deed.to = now();
	return deed;
}

static struct deed touch(volatile char *pages)
{
	struct deed deed = { .tid = gettid() };

	deed.from = now();
	for (size_t i = 0; i < PAGES; i++)
		pages[i * 4096] = 1;
	deed.to = now();
	return deed;
}

static void *born(void *ret)
{
	*(struct deed *)ret = call_parent();
	return NULL;
}

static int ready[2], release[2]; /* pipes */

static void *wait_long(void *ret)
{
	char byte;

	*(pid_t *)ret = gettid();
	(void)!write(ready[1], "x", 1);
	(void)!read(release[0], &byte, 1);
	return NULL;
}

/* Until the thread sleeps in read; false if it doesn't come there. */
static bool sleeps_in_read(pid_t tid)
{
	const int64_t deadline = clock_now_ns() + 30000000000ll;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	while (clock_now_ns() < deadline) {
		auto_buf struct buf text = { 0 };

		if (file_read(path, &text, NULL) == 0 && !strncmp(buf_str(&text), "0 ", 2))
			return true;
	}
	return false;
}

static void test_deeds(struct kernel_watch *watch)
{
	struct kernel_log log = { 0 };
	struct uspl_err err = { 0 };
	struct deed calls, naps, touches, others = { 0 };
	const struct kernel_event *event;
	volatile char *pages = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t here = 0;
	pthread_t thread;

	madvise((void *)pages, PAGES * 4096, MADV_NOHUGEPAGE);
	ok(kernel_watch_begin(watch, &err) == 0, "it begins %s", err.msg);
	calls = call_parent();
	naps = nap();
	touches = touch(pages);
	pthread_create(&thread, NULL, born, &others);
	pthread_join(thread, NULL);
	ok(kernel_watch_read(watch, false, &log, &err) == 0, "it is read %s", err.msg);

	ok(log.kinds == watch->kinds && !log.lost, "nothing is lost");
	if (watch->kinds & 1u << KERNEL_SYSCALL) {
		ok(count(&log.events, &calls, KERNEL_SYSCALL, SYS_getppid) == CALLS,
		   "each of %d system calls: %zu", CALLS,
		   count(&log.events, &calls, KERNEL_SYSCALL, SYS_getppid));
		event = find(&log.events, &calls, KERNEL_SYSCALL, SYS_getppid);
		ok(event && (pid_t)event->value == getppid() && kernel_event_has_value(event),
		   "its result");
		ok(count(&log.events, &others, KERNEL_SYSCALL, SYS_getppid) == CALLS,
		   "those of a thread that was made since");
	}
	if (watch->kinds & 1u << KERNEL_OFF) {
		bool has_calls = watch->kinds & 1u << KERNEL_SYSCALL;

		event = find(&log.events, &naps, KERNEL_OFF, has_calls ? SYS_clock_nanosleep : -1);
		ok(event, "it was off, and blocked, while it slept");
	}
	if (watch->kinds & 1u << KERNEL_FAULT) {
		vec_for_each (&log.events, event)
			here += event->kind == KERNEL_FAULT && event->tid == touches.tid &&
				event->start >= touches.from && event->end <= touches.to &&
				event->value - (uint64_t)pages < PAGES * 4096 &&
				!(event->flags & (KERNEL_MAJOR | KERNEL_UNDONE)) &&
				event->end > event->start;
		ok(here == PAGES, "each of %d pages: %zu", PAGES, here);
	}
	munmap((void *)pages, PAGES * 4096);
	vec_release(&log.events);
}

/* A thread that is still in its system call when all ends. */
static void test_open(struct kernel_watch *watch)
{
	struct kernel_log log = { 0 };
	const struct kernel_event *event;
	struct uspl_err err = { 0 };
	pthread_t thread;
	pid_t tid = 0;
	size_t open_events = 0;
	char byte;

	if (pipe(ready) || pipe(release))
		exit(3);
	pthread_create(&thread, NULL, wait_long, &tid);
	(void)!read(ready[0], &byte, 1);
	ok(sleeps_in_read(tid), "it sleeps");
	ok(kernel_watch_read(watch, true, &log, &err) == 0, "the last reading %s", err.msg);
	vec_for_each (&log.events, event)
		open_events += event->tid == tid && event->flags & KERNEL_OPEN &&
			       (event->kind == KERNEL_OFF ||
				(event->nr == SYS_read && !kernel_event_has_value(event)));
	ok(open_events == (watch->kinds & 1u << KERNEL_SYSCALL ? 2 : 1),
	   "what isn't over is open: %zu", open_events);
	(void)!write(release[1], "x", 1);
	pthread_join(thread, NULL);
	vec_release(&log.events);
}

static void test_names(void)
{
	struct kernel_event call = { .kind = KERNEL_SYSCALL, .nr = SYS_futex, .value = -11ull };
	struct kernel_event off = { .kind = KERNEL_OFF, .nr = -1, .flags = KERNEL_PREEMPTED };
	struct kernel_event fault = { .kind = KERNEL_FAULT,
				      .value = 0x1000,
				      .flags = KERNEL_MAJOR };
	auto_buf struct buf out = { 0 };
	auto_json struct json json = { 0 };
	struct uspl_err err = { 0 };
	unsigned kinds = 0;

	kernel_event_add(&call, &out);
	kernel_event_add_result(&call, &out);
	buf_addstr(&out, " ");
	kernel_event_add(&off, &out);
	kernel_event_add_result(&off, &out);
	buf_addstr(&out, " ");
	kernel_event_add(&fault, &out);
	call.nr = 99999;
	call.flags = KERNEL_OPEN;
	buf_addstr(&out, " ");
	kernel_event_add(&call, &out);
	kernel_event_add_result(&call, &out);
	ok_str(buf_str(&out),
	       "sys:futex() = EAGAIN off:preempted fault:major(0x1000) sys:syscall_99999()",
	       "for people");
	json_open(&json, NULL, '{');
	kernel_event_add_json(&fault, &json);
	kernel_event_add_json(&off, &json);
	json_close(&json, '}');
	ok_str(json_text(&json), "{\"address\":\"0x1000\",\"major\":true,\"why\":\"preempted\"}",
	       "for programs");
	ok(kernel_kinds_parse("", &kinds, &err) == 0 && kinds == KERNEL_ALL, "all kinds");
	ok(kernel_kinds_parse("faults,sched", &kinds, &err) == 0 &&
		   kinds == (1u << KERNEL_FAULT | 1u << KERNEL_OFF),
	   "two of them");
	ok(kernel_kinds_parse("sched,", &kinds, &err) == -(int)USPL_E_USAGE &&
		   kernel_kinds_parse("sche", &kinds, &err) == -(int)USPL_E_USAGE && err.hint[0],
	   "what there isn't: %s", err.msg);
}

/* With fewer descriptors than there are events to be opened: as many as we may have are taken. */
static int open_with_few(struct kernel_watch *watch, struct uspl_err *err)
{
	struct rlimit limit, few, after;
	int rc;

	getrlimit(RLIMIT_NOFILE, &limit);
	few = limit;
	few.rlim_cur = 12;
	ok(setrlimit(RLIMIT_NOFILE, &few) == 0, "a small limit");
	rc = kernel_watch_open(watch, getpid(), KERNEL_ALL, err);
	getrlimit(RLIMIT_NOFILE, &after);
	ok(rc || after.rlim_cur == limit.rlim_max, "it is raised as far as it may be");
	return rc;
}

int main(void)
{
	auto_kernel_watch struct kernel_watch watch = { 0 };
	struct uspl_err err = { 0 };
	int rc = open_with_few(&watch, &err);

	test_names();
	if (rc) {
		ok(err.msg[0] && rc == -(int)USPL_E_PERMISSION, "refused: %s", err.msg);
		return tap_done();
	}
	test_deeds(&watch);
	test_open(&watch);
	return tap_done();
}
