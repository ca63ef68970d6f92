// SPDX-License-Identifier: GPL-3.0-or-later
// ask_rights.c - the user's rights, and where this program runs

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>

#include "base/file.h"
#include "check-machine/ask.h"
#include "proc/memcg.h"
#include "proc/task.h"

/* The line of /proc/self/status of that name, as a number in that base; 0 if there is none. */
static uint64_t own_status(const char *name, int base)
{
	auto_buf struct buf text = { 0 };
	const char *value = NULL;

	if (file_read("/proc/self/status", &text, NULL) == 0)
		value = task_status_field(&text, name);
	return value ? strtoull(value, NULL, base) : 0;
}

static void ask_user(struct ask *ask)
{
	static const struct {
		int capability;
		const char *name;
	} wanted[] = {
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
		{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
		{ CAP_NET_ADMIN, "CAP_NET_ADMIN" },
		{ 38, "CAP_PERFMON" }, /* Linux 5.8 */
	};
	uint64_t have = own_status("CapEff", 16);
	auto_buf struct buf lack = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (!(have >> wanted[i].capability & 1))
			buf_addf(&lack, "%s%s", lack.len ? ", " : "", wanted[i].name);
	if (!lack.len) {
		answers_add(&ask->answers, "rights", VERDICT_OK, "all that uspl has a use for");
		return;
	}
	answers_add(&ask->answers, "rights", VERDICT_LIMITED, "without %s%s", buf_str(&lack),
		    have >> CAP_SYS_PTRACE & 1 ? "" : ": other users' processes can't be patched");
	answers_way_out(&ask->answers,
			own_status("NoNewPrivs", 10)
				? "start it elsewhere: no_new_privs is set, sudo won't help here"
				: "run as root");
}

static void ask_yama(struct ask *ask)
{
	static const char *const meaning[] = {
		"a user may trace all processes of the same user",
		"a process may trace its children only",
		"only root may trace processes",
		"no process may be traced until the machine is started anew",
	};
	char scope[16];
	int value;

	ask_read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
	if (!scope[0]) {
		answers_add(&ask->answers, "yama", VERDICT_OK, "not in this kernel");
		return;
	}
	value = atoi(scope);
	answers_add(&ask->answers, "yama", value ? VERDICT_LIMITED : VERDICT_OK,
		    "kernel.yama.ptrace_scope is %d: %s", value,
		    value >= 0 && value <= 3 ? meaning[value] : "of unknown meaning");
	if (value == 1 || value == 2)
		answers_way_out(&ask->answers, "run as root, or sysctl kernel.yama.ptrace_scope=0");
}

static void ask_lockdown(struct ask *ask)
{
	char modes[64];

	ask_read_line("/sys/kernel/security/lockdown", modes, sizeof(modes));
	if (!modes[0])
		answers_add(&ask->answers, "lockdown", VERDICT_OK,
			    "not in this kernel, or not shown (securityfs)");
	else if (strstr(modes, "[confidentiality]"))
		answers_add(&ask->answers, "lockdown", VERDICT_LIMITED,
			    "confidentiality: tracefs and the kernel's own code are hidden from "
			    "tracers; updates are no matter");
	else
		answers_add(&ask->answers, "lockdown", VERDICT_OK, "%s: no matter to uspl", modes);
}

/* Process 1 is always there; with hidepid it can't be seen. */
static void ask_hidden(struct ask *ask)
{
	auto_close int fd = open("/proc/1/status", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		answers_add(&ask->answers, "proc", VERDICT_OK, "/proc shows all processes");
		return;
	}
	answers_add(&ask->answers, "proc", VERDICT_LIMITED,
		    "/proc hides other users' processes (%s): view and undo don't find them",
		    strerror(errno));
	answers_way_out(&ask->answers, "run as root; or mount /proc without hidepid");
}

static void ask_namespace(struct ask *ask)
{
	char link[64] = "";
	ssize_t len = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);
	bool filtered = own_status("Seccomp", 10) != 0;

	/* Of the first one: PROC_PID_INIT_INO. */
	if (len > 0 && strcmp(link, "pid:[4026531836]") != 0) {
		answers_add(&ask->answers, "container", VERDICT_LIMITED,
			    "this program runs in a pid namespace of its own%s: it reaches the "
			    "processes of that only",
			    filtered ? ", under a seccomp filter" : "");
		answers_way_out(&ask->answers, "run it outside, on the pid that the process has "
					       "there");
		return;
	}
	answers_add(&ask->answers, "container", filtered ? VERDICT_LIMITED : VERDICT_OK,
		    filtered ? "this program itself runs under a seccomp filter, which may forbid "
			       "perf events and tracing"
			     : "this program runs in the first pid namespace");
}

static void ask_memory(struct ask *ask)
{
	uint64_t left;

	if (!memcg_left(ask->proc, &left)) {
		answers_add(&ask->answers, "memory-groups", VERDICT_LIMITED,
			    "what memory control groups have left can't be seen: where one is at "
			    "its limit an update isn't refused, and the kernel may kill");
		answers_way_out(&ask->answers, "mount the groups' file system (/sys/fs/cgroup)");
		return;
	}
	answers_add(&ask->answers, "memory-groups", VERDICT_OK,
		    left < MEMCG_NO_LIMIT ? "seen; this program's own have %" PRIu64 " KiB left"
					  : "seen; this program's own have no limit",
		    left / 1024);
}

void ask_rights(struct ask *ask)
{
	char most[32];

	ask_user(ask);
	ask_yama(ask);
	ask_lockdown(ask);
	ask_hidden(ask);
	ask_namespace(ask);
	if (ask->proc)
		ask_memory(ask);
	ask_read_line("/proc/sys/vm/max_map_count", most, sizeof(most));
	answers_add(&ask->answers, "map-count", VERDICT_OK,
		    "a process may have %s mappings; an update takes up to 5 for each module",
		    most[0] ? most : "an unknown number of");
}
