// SPDX-License-Identifier: GPL-3.0-or-later
// ask_job.c - what an apply does to a process, done to one of our own

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "check-machine/ask.h"
#include "inject/inject.h"
#include "proc/proc_lock.h"

void ask_read_line(const char *path, char *ret, size_t len)
{
	auto_buf struct buf text = { 0 };

	ret[0] = '\0';
	if (file_read(path, &text, NULL) == 0)
		snprintf(ret, len, "%.*s", (int)strcspn(buf_str(&text), "\n"), buf_str(&text));
}

static bool open_trial(struct ask *ask)
{
	struct uspl_err why = { 0 };
	int rc = proc_open_locked(ask->plain.pid, clock_now_ns(), &ask->proc, &why);

	if (!rc)
		rc = modules_read(ask->proc, &ask->modules, &why);
	/* Which other processes the user may trace can't be tried. */
	if (rc)
		answers_add_err(&ask->answers, "processes", VERDICT_NO,
				"the memory of another process can't be opened", &why);
	else
		answers_add(&ask->answers, "processes", VERDICT_OK,
			    "%s can be opened, and their memory read",
			    geteuid() == 0 ? "processes of all users"
					   : "this user's own processes");
	answers_mark_vital(&ask->answers);
	return !rc;
}

/* A way out if the setting is known: see proc_mem.force_override in kernel-parameters.txt. */
static void add_write_hint(struct ask *ask)
{
	char cmdline[4096];
	const char *setting;

	ask_read_line("/proc/cmdline", cmdline, sizeof(cmdline));
	setting = strstr(cmdline, "proc_mem.force_override=");
	if (setting)
		answers_way_out(&ask->answers, "the kernel was started with '%.*s'",
				(int)strcspn(setting, " "), setting);
	else
		answers_way_out(&ask->answers,
				"see proc_mem.force_override among the kernel's parameters; its "
				"default is set when the kernel is built");
}

static void ask_write(struct ask *ask)
{
	struct uspl_err why = { 0 };
	taddr code = (taddr)(uintptr_t)trial_pass;
	uint8_t byte;
	int rc = proc_read(ask->proc, code, &byte, sizeof(byte), &why);

	/* The same byte once more, in code that can't be written by the program itself. */
	if (!rc)
		rc = proc_write(ask->proc, code, &byte, sizeof(byte), &why);
	if (rc) {
		answers_add_err(&ask->answers, "memory-write", VERDICT_NO,
				"code of another process can't be written", &why);
		if (!why.hint[0])
			add_write_hint(ask);
	} else {
		answers_add(&ask->answers, "memory-write", VERDICT_OK,
			    "code can be written through /proc/PID/mem");
	}
	answers_mark_vital(&ask->answers);
}

int ask_try_map(struct proc *proc, struct uspl_err *err)
{
	taddr at = mappings_find_wide(&proc->maps, 2 * PAGE);
	struct inject_req reqs[] = {
		inject_mmap(at, 2 * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_FIXED_NOREPLACE),
		inject_mmap(at + PAGE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED),
	};
	size_t done;
	int rc = inject_run_mapping(proc, at, reqs, ARRAY_SIZE(reqs), &done, err);

	if (rc)
		return rc;
	if (reqs[done - 1].result < 0) {
		errno = (int)-reqs[done - 1].result;
		return uspl_fail_errno(err, "cannot map memory that can be run");
	}
	rc = proc_refresh_maps(proc, err);
	if (rc)
		return rc;
	return inject_unmap(proc, at, 2 * PAGE, err);
}

void ask_job(struct ask *ask)
{
	struct uspl_err why = { 0 };

	if (!open_trial(ask))
		return;
	ask_write(ask);
	if (ask_try_map(ask->proc, &why) != 0)
		answers_add_err(&ask->answers, "map-memory", VERDICT_NO,
				"no thread of another process can map memory for new code", &why);
	else
		answers_add(&ask->answers, "map-memory", VERDICT_OK,
			    "a thread was stopped and let go, and has mapped memory for new code");
	answers_mark_vital(&ask->answers);
}
