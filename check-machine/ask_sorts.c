// SPDX-License-Identifier: GPL-3.0-or-later
// ask_sorts.c - processes of other sorts: confined ones, those with shadow stacks or shared memory

#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "base/file.h"
#include "check-machine/ask.h"
#include "proc/proc_lock.h"
#include "thread/vm_sharers.h"

/* As ask_try_map, for another trial: opens and closes it. */
static int try_job(const struct trial *trial, struct uspl_err *err)
{
	auto_proc struct proc *proc = NULL;
	int rc = proc_open_locked(trial->pid, clock_now_ns(), &proc, err);

	if (rc)
		return rc;
	return ask_try_map(proc, err);
}

static void ask_seccomp(struct ask *ask)
{
	const struct trial *trial = &ask->confined;
	struct uspl_err why = ask->no_confined;

	if (trial->pid && trial->page->answer == -EINVAL) {
		answers_add(&ask->answers, "seccomp", VERDICT_OK, "this kernel has no filters");
		return;
	}
	if (!why.code && trial->page->answer)
		uspl_fail(&why, USPL_E_UNSUPPORTED, "no filter can be set: %s",
			  strerror((int)-trial->page->answer));
	if (!why.code && try_job(trial, &why) == 0)
		answers_add(&ask->answers, "seccomp", VERDICT_OK,
			    "processes under a filter: it is suspended while a thread works");
	else
		answers_add_err(&ask->answers, "seccomp", VERDICT_LIMITED,
				"processes under a filter can't be patched", &why);
}

/* A processor's feature as the kernel lists it, "" if it lists none. */
static bool has_feature(const char *name)
{
	auto_buf struct buf text = { 0 };
	const char *flags, *found;

	if (file_read("/proc/cpuinfo", &text, NULL) != 0)
		return false;
	flags = strstr(buf_str(&text), "\nflags");
	found = flags ? strstr(flags, name) : NULL;
	return found && found < flags + 1 + strcspn(flags + 1, "\n");
}

static void ask_shadow_stack(struct ask *ask)
{
	const struct trial *trial = &ask->shadowed;
	struct uspl_err why = ask->no_shadowed;

	if (trial->pid && trial->page->answer) {
		answers_add(&ask->answers, "shadow-stack", VERDICT_OK,
			    "no process has one: the %s (%s)",
			    has_feature(" user_shstk") ? "kernel switches none on"
						       : "kernel or the processor offers none",
			    strerror((int)-trial->page->answer));
		return;
	}
	if (!why.code && try_job(trial, &why) == 0)
		answers_add(&ask->answers, "shadow-stack", VERDICT_OK,
			    "processes with one can be patched");
	else
		answers_add_err(&ask->answers, "shadow-stack", VERDICT_LIMITED,
				"processes with one can't be patched", &why);
}

static void ask_processor(struct ask *ask)
{
	answers_add(&ask->answers, "branch-tracking", VERDICT_OK,
		    "%s; no Linux enforces it in programs, and endbr64 stays at each entry",
		    has_feature(" ibt") ? "the processor has IBT" : "the processor has no IBT");
	if (arch_native()->has_threads()) {
		answers_add(&ask->answers, "xsave", VERDICT_OK,
			    "new code may have thread-local variables of its own");
		return;
	}
	answers_add(&ask->answers, "xsave", VERDICT_LIMITED,
		    "new code can't have thread-local variables of its own: the processor lacks "
		    "XSAVE");
}

/* A child in vfork is not a thread, and would run into code that is half changed. */
static void ask_sharing(struct ask *ask)
{
	struct uspl_err why = { 0 };
	int rc = trial_do(&ask->plain, TRIAL_SHARE, &why);

	if (!rc)
		rc = vm_sharers_await(ask->proc, &(struct vm_sharers){ 0 }, 0, &why);
	if (rc == -USPL_E_UNSUPPORTED) {
		answers_add(&ask->answers, "shared-memory", VERDICT_OK,
			    "another process that runs in a process's memory is seen");
	} else if (rc) {
		answers_add_err(&ask->answers, "shared-memory", VERDICT_LIMITED,
				"whether another process runs in a process's memory can't be asked",
				&why);
	} else {
		answers_add(&ask->answers, "shared-memory", VERDICT_LIMITED,
			    "another process that runs in a process's memory (vfork) isn't seen");
		answers_way_out(&ask->answers, "a kernel with CONFIG_KCMP");
	}
	if (trial_do(&ask->plain, TRIAL_SLEEP, &why) != 0)
		answers_add_err(&ask->answers, "shared-memory", VERDICT_LIMITED,
				"a thread that had a child doesn't go on", &why);
}

void ask_sorts(struct ask *ask)
{
	ask_seccomp(ask);
	ask_shadow_stack(ask);
	ask_processor(ask);
	if (ask->proc)
		ask_sharing(ask);
}
