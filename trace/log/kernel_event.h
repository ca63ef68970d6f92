/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_event.h - what the kernel tells of a thread beside its calls
 *
 * A system call, a time off the processors, or a page fault, each with its beginning and its end on
 * the clock of the calls. Where in a thread's calls it lies follows from the times (timeline.h).
 */
#ifndef USPL_TRACE_LOG_KERNEL_EVENT_H
#define USPL_TRACE_LOG_KERNEL_EVENT_H

#include "base/json.h"
#include "trace/log/saved_io.h"

enum kernel_kind { KERNEL_SYSCALL, KERNEL_OFF, KERNEL_FAULT, KERNEL_KINDS };

#define KERNEL_ALL ((1u << KERNEL_KINDS) - 1)

enum kernel_flag {
	KERNEL_OPEN = 1,      /* not over: `end` is when it was asked for */
	KERNEL_PREEMPTED = 2, /* off: the thread would have gone on; else it was blocked */
	KERNEL_MAJOR = 4,     /* fault: the page had to be read */
	/*
	 * A system call that doesn't return to where it was made (exit, a signal handler's end): it
	 * has no result. A fault that wasn't served, as far as the kernel has told.
	 */
	KERNEL_UNDONE = 8,
};

#define KERNEL_FLAGS (KERNEL_OPEN | KERNEL_PREEMPTED | KERNEL_MAJOR | KERNEL_UNDONE)

struct kernel_event {
	uint64_t start, end; /* ticks of the time stamp counter */
	uint64_t value;      /* a system call's result, a fault's address */
	pid_t tid;           /* as the process knows it, as records do; 0: not known */
	int32_t cpu;         /* on which it began */
	int32_t nr; /* the system call, or, off, the one that the thread was in; -1: not known */
	enum kernel_kind kind;
	unsigned flags; /* enum kernel_flag */
};

typedef VEC(struct kernel_event) kernel_events;

struct kernel_log {
	unsigned kinds; /* 1 << kind, of those that the kernel was asked for; 0: it wasn't asked */
	uint64_t lost;  /* its notes, or events, for which there was no room */
	kernel_events events;
};

/*
 * "syscalls,sched,faults", or some of them, as a set of 1 << kind; "" is all. USPL_E_USAGE, naming
 * them, for another word.
 */
int kernel_kinds_parse(const char *text, unsigned *ret, struct uspl_err *err) uspl_must_check;
/* What a kind is called in a sentence: "system calls". */
const char *kernel_kind_title(enum kernel_kind kind);

/* "sys:futex", "off:blocked", "fault:major": what it is called among functions. */
const char *kernel_event_name(const struct kernel_event *event, char *buf, size_t len);
/* The system call's name, "syscall_NR" if it has none. */
const char *kernel_syscall_name(int32_t nr, char *buf, size_t len);
/* True if its value is known: a result, or an address. */
bool kernel_event_has_value(const struct kernel_event *event);
/* The same for people: "sys:futex()", "fault:minor(0x7f0123456000)". */
void kernel_event_add(const struct kernel_event *event, struct buf *out);
/* " = 0" or " = EAGAIN" of a system call that has returned; nothing of all others. */
void kernel_event_add_result(const struct kernel_event *event, struct buf *out);
/* A system call's result: 0, EAGAIN, 0x7f0123456000. */
void kernel_add_result(int64_t result, struct buf *out);

/*
 * What is known of it, into an object that is open: "syscall" and "result"; "why" and "syscall";
 * "address" and "major".
 */
void kernel_event_add_json(const struct kernel_event *event, struct json *json);

/* In a saved trace: what stands before the events, which are n; and an event. */
void kernel_log_put_head(struct buf *out, const struct kernel_log *log, uint64_t n);
void kernel_event_put(struct buf *out, const struct kernel_event *event);
/* Reads both; refuses what no reader of the kernel's notes makes. */
void kernel_log_get(struct saved_cursor *in, struct kernel_log *log);

#endif
