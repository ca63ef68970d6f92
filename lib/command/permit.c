// SPDX-License-Identifier: GPL-3.0-or-later
// permit.c - what the machine's policy says of a command, and the note of what the command did

#include "command/permit.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char deleted[] = " (deleted)";

/* The path of a process's program, as it was when it was executed; "" if that can't be read. */
static void read_exe(const char *folder, char exe[PATH_MAX])
{
	char link[64];
	ssize_t len;
	size_t n = strlen(deleted);

	snprintf(link, sizeof(link), "%s/exe", folder);
	len = readlink(link, exe, PATH_MAX - 1);
	exe[len > 0 ? len : 0] = '\0';
	if (len > (ssize_t)n && !strcmp(exe + len - n, deleted))
		exe[len - (ssize_t)n] = '\0';
}

int permit_begin(struct permit *permit, struct uspl_err *err)
{
	caller_find(&permit->caller);
	return policy_read(&permit->caller, &permit->policy, err);
}

void permit_release(struct permit *permit)
{
	policy_release(&permit->policy);
}

struct signature_terms permit_terms(const struct permit *permit)
{
	return (struct signature_terms){
		.required = permit->policy.binds && permit->policy.signatures_required,
	};
}

static int ask(const struct permit *permit, struct policy_question *question,
	       double *ret_longest_stop_s, struct uspl_err *err)
{
	question->now = (int64_t)time(NULL);
	return policy_ask(&permit->policy, &permit->caller, question, ret_longest_stop_s, err);
}

/* folder: below /proc. */
static int ask_for(const struct permit *permit, const char *folder,
		   struct policy_question *question, double *ret_longest_stop_s,
		   struct uspl_err *err)
{
	char exe[PATH_MAX];

	read_exe(folder, exe);
	question->program = exe;
	return ask(permit, question, ret_longest_stop_s, err);
}

int permit_process(const struct permit *permit, enum policy_command command,
		   const struct proc *proc, const char *update,
		   const struct signature_signer *signer, double *ret_longest_stop_s,
		   struct uspl_err *err)
{
	struct policy_question question = { .command = command,
					    .update = update,
					    .signer = signer ? signer->key : NULL,
					    .signer_name = signer ? signer->name : NULL,
					    .owner = proc->uid };
	char folder[64];

	if (!permit)
		return 0;
	snprintf(folder, sizeof(folder), "/proc/%d/task/%d", proc->pid, proc_task(proc));
	return ask_for(permit, folder, &question, ret_longest_stop_s, err);
}

int permit_pid(const struct permit *permit, enum policy_command command, pid_t pid,
	       double *ret_longest_stop_s, struct uspl_err *err)
{
	struct policy_question question = { .command = command };
	char folder[64];
	struct stat st;

	snprintf(folder, sizeof(folder), "/proc/%d", pid);
	/* What is wrong with the pid is said by the command itself. */
	if (stat(folder, &st) < 0)
		return 0;
	question.owner = st.st_uid;
	return ask_for(permit, folder, &question, ret_longest_stop_s, err);
}

int permit_enable(const struct permit *permit, const char *update,
		  const struct signature_signer *signer, struct uspl_err *err)
{
	struct policy_question question = { .command = POLICY_ENABLE,
					    .update = update,
					    .signer = signer ? signer->key : NULL,
					    .signer_name = signer ? signer->name : NULL };
	double ignored = 0;

	return ask(permit, &question, &ignored, err);
}

static const char *result_of(int rc)
{
	if (rc >= 0)
		return "done";
	switch (uspl_code_status(rc)) {
	case USPL_STATUS_REFUSED:
		return "refused";
	case USPL_STATUS_STRANDED:
		return "stranded";
	default:
		return "failed";
	}
}

int permit_note(const struct permit *permit, struct audit_event event, int rc,
		const struct uspl_err *why, struct uspl_err *err)
{
	char exe[PATH_MAX] = "", folder[64];
	struct stat st;

	event.owner = CALLER_NOBODY;
	if (event.pid) {
		snprintf(folder, sizeof(folder), "/proc/%d", event.pid);
		read_exe(folder, exe);
		event.exe = exe;
		if (stat(folder, &st) == 0)
			event.owner = st.st_uid;
	}
	event.result = result_of(rc);
	if (rc < 0) {
		event.error = uspl_code_name(rc);
		event.message = why ? why->msg : NULL;
	}
	return audit_send(&event, &permit->caller, permit->policy.journal, err);
}
