// SPDX-License-Identifier: GPL-3.0-or-later
// kernel_event.c - what the kernel tells of a thread beside its calls

#include "trace/log/kernel_event.h"

#include <inttypes.h>
#include <string.h>

#include "arch/regs.h"

#define NAME_MAX_LEN 64
#define EVENT_LEN 44u /* of a saved one */
#define ERRNO_MAX 4095

static const struct {
	const char *name, *title;
} kinds[KERNEL_KINDS] = {
	[KERNEL_SYSCALL] = { "syscalls", "system calls" },
	[KERNEL_OFF] = { "sched", "times off the processors" },
	[KERNEL_FAULT] = { "faults", "page faults" },
};

int kernel_kinds_parse(const char *text, unsigned *ret, struct uspl_err *err)
{
	unsigned set = 0;

	if (!*text) {
		*ret = KERNEL_ALL;
		return 0;
	}
	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ",");
		unsigned kind = 0;

		while (kind < KERNEL_KINDS &&
		       (strlen(kinds[kind].name) != len || strncmp(kinds[kind].name, at, len) != 0))
			kind++;
		if (kind == KERNEL_KINDS) {
			uspl_fail(err, USPL_E_USAGE, "'--kernel=%s': '%.*s' isn't recorded", text,
				  (int)len, at);
			uspl_hint(err, "there are 'syscalls', 'sched' and 'faults'");
			return -USPL_E_USAGE;
		}
		set |= 1u << kind;
		at += len;
		if (!*at)
			break;
	}
	*ret = set;
	return 0;
}

const char *kernel_kind_title(enum kernel_kind kind)
{
	return kinds[kind].title;
}

const char *kernel_syscall_name(int32_t nr, char *buf, size_t len)
{
	const char *name = syscall_name(nr);

	if (name)
		return name;
	snprintf(buf, len, "syscall_%" PRId32, nr);
	return buf;
}

/* Why it was off. */
static const char *off_reason(const struct kernel_event *event)
{
	return event->flags & KERNEL_PREEMPTED ? "preempted" : "blocked";
}

const char *kernel_event_name(const struct kernel_event *event, char *buf, size_t len)
{
	char name[NAME_MAX_LEN];

	if (event->kind == KERNEL_SYSCALL)
		snprintf(buf, len, "sys:%s", kernel_syscall_name(event->nr, name, sizeof(name)));
	else if (event->kind == KERNEL_OFF)
		snprintf(buf, len, "off:%s", off_reason(event));
	else
		snprintf(buf, len, "fault%s",
			 event->flags & KERNEL_UNDONE  ? ""
			 : event->flags & KERNEL_MAJOR ? ":major"
						       : ":minor");
	return buf;
}

bool kernel_event_has_value(const struct kernel_event *event)
{
	return event->kind == KERNEL_FAULT ||
	       (event->kind == KERNEL_SYSCALL && !(event->flags & (KERNEL_OPEN | KERNEL_UNDONE)));
}

void kernel_event_add(const struct kernel_event *event, struct buf *out)
{
	char name[NAME_MAX_LEN];

	buf_addstr(out, kernel_event_name(event, name, sizeof(name)));
	if (event->kind == KERNEL_SYSCALL)
		buf_addstr(out, "()");
	else if (event->kind == KERNEL_FAULT)
		buf_addf(out, "(0x%" PRIx64 ")", event->value);
}

void kernel_event_add_result(const struct kernel_event *event, struct buf *out)
{
	if (event->kind != KERNEL_SYSCALL || !kernel_event_has_value(event))
		return;
	buf_addstr(out, " = ");
	kernel_add_result((int64_t)event->value, out);
}

void kernel_add_result(int64_t result, struct buf *out)
{
	const char *error =
		result < 0 && result >= -ERRNO_MAX ? strerrorname_np((int)-result) : NULL;

	if (error)
		buf_addstr(out, error);
	else if (result > INT32_MAX || result < INT32_MIN)
		buf_addf(out, "0x%" PRIx64, (uint64_t)result);
	else
		buf_addf(out, "%" PRId64, result);
}

void kernel_event_add_json(const struct kernel_event *event, struct json *json)
{
	char name[NAME_MAX_LEN];

	if (event->kind == KERNEL_FAULT) {
		json_address(json, "address", event->value);
		if (!(event->flags & KERNEL_UNDONE))
			json_truth(json, "major", event->flags & KERNEL_MAJOR);
		return;
	}
	if (event->kind == KERNEL_OFF)
		json_string(json, "why", off_reason(event));
	if (event->nr >= 0)
		json_string(json, "syscall", kernel_syscall_name(event->nr, name, sizeof(name)));
	if (event->kind == KERNEL_SYSCALL && kernel_event_has_value(event))
		json_number(json, "result", (int64_t)event->value);
}

void kernel_log_put_head(struct buf *out, const struct kernel_log *log, uint64_t n)
{
	saved_put_u32(out, log->kinds);
	saved_put_u64(out, log->lost);
	saved_put_u64(out, n);
}

void kernel_event_put(struct buf *out, const struct kernel_event *event)
{
	saved_put_u64(out, event->start);
	saved_put_u64(out, event->end);
	saved_put_u64(out, event->value);
	saved_put_u32(out, (uint32_t)event->tid);
	saved_put_u32(out, (uint32_t)event->cpu);
	saved_put_u32(out, (uint32_t)event->nr);
	saved_put_u32(out, event->kind);
	saved_put_u32(out, event->flags);
}

void kernel_log_get(struct saved_cursor *in, struct kernel_log *log)
{
	uint32_t kind;
	uint64_t n;

	log->kinds = saved_get_u32(in);
	log->lost = saved_get_u64(in);
	n = saved_get_u64(in);
	if (!in->rc && (!log->kinds || log->kinds & ~KERNEL_ALL))
		saved_fail(in, USPL_E_HOSTILE, "is damaged");
	if (!in->rc && n > saved_left(in) / EVENT_LEN)
		saved_fail(in, USPL_E_FILE, "is cut short");
	for (uint64_t i = 0; i < n && !in->rc; i++) {
		struct kernel_event *event = saved_get_place(in, &log->events);

		if (!event)
			return;
		event->start = saved_get_u64(in);
		event->end = saved_get_u64(in);
		event->value = saved_get_u64(in);
		event->tid = (pid_t)saved_get_u32(in);
		event->cpu = (int32_t)saved_get_u32(in);
		event->nr = (int32_t)saved_get_u32(in);
		kind = saved_get_u32(in);
		event->flags = saved_get_u32(in);
		if (kind >= KERNEL_KINDS || !(log->kinds & 1u << kind) ||
		    event->flags & ~KERNEL_FLAGS || event->end < event->start)
			saved_fail(in, USPL_E_HOSTILE, "is damaged");
		else
			event->kind = (enum kernel_kind)kind;
	}
}
