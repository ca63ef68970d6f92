// SPDX-License-Identifier: GPL-3.0-or-later
// search.c - which of the processes that are selected a command has to do with
/*
 * The child says through a pipe at which process it begins to look, what it has found there, and at
 * last how many there were. Where the pipe ends without that, the child has died of the process
 * that it had begun with, and another child goes on without that one.
 */

#include "machine/search.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/cancel.h"
#include "base/confine.h"

enum kind { BEGIN, ANSWER, END };

/* What goes through the pipe: less than PIPE_BUF, so that each is written at once. */
struct message {
	enum kind kind;
	struct census_process process;
	enum search_answer answer;
	int rc; /* of the whole, at its end */
	size_t n_meant, n_denied, n_hidden;
};

static void name_process(const struct census_process *process, char *key, size_t size)
{
	snprintf(key, size, "%d:%" PRIu64, process->pid, process->starttime);
}

int search_know(struct search *search, const struct census_process *process, struct uspl_err *err)
{
	char key[64];

	name_process(process, key, sizeof(key));
	return strmap_set(&search->known, key, search) ? 0 : uspl_fail_nomem(err);
}

bool search_knows(const struct search *search, const struct census_process *process)
{
	char key[64];

	name_process(process, key, sizeof(key));
	return strmap_get(&search->known, key) != NULL;
}

/* In the child: one process. A failure is one of the whole search. */
static int look_at(const struct search *search, const struct census_process *process,
		   enum search_answer *ret, size_t *denied)
{
	auto_proc struct proc *proc = NULL;
	struct uspl_err why = { 0 };
	int rc = proc_open_scan(process->pid, &proc, &why);

	*ret = SEARCH_OTHER;
	/* Another process has got its pid. */
	if (!rc && proc->starttime != process->starttime)
		return 0;
	if (!rc)
		rc = search->look(proc, search->ctx, ret, &why);
	switch (-rc) {
	case USPL_E_HOSTILE:
	case USPL_E_FORMAT:
		uspl_err_note(stderr, &why);
		*ret = SEARCH_LEFT_OUT;
		return 0;
	case USPL_E_PERMISSION:
		++*denied;
		return 0;
	case USPL_E_CANCELLED:
	case USPL_E_NOMEM:
		return rc;
	default:
		return 0;
	}
}

static void send(int fd, const struct message *message)
{
	if (write(fd, message, sizeof(*message)) != sizeof(*message))
		_exit(USPL_STATUS_FAILED);
}

static int look_at_all(const struct search *search, int fd, struct message *end)
{
	auto_vec census_vec all = { 0 };
	const struct census_process *process;
	int rc = census_take(search->sel, &all, &end->n_hidden, NULL);

	if (rc)
		return rc;
	vec_for_each (&all, process) {
		struct message message = { .kind = BEGIN, .process = *process };

		if (search_knows(search, process))
			continue;
		end->n_meant++;
		send(fd, &message);
		rc = look_at(search, process, &message.answer, &end->n_denied);
		if (rc)
			return rc;
		message.kind = ANSWER;
		send(fd, &message);
	}
	return 0;
}

/* What the child says; *ret_last is the last message, END if it came to its end. */
static int listen_to(int fd, struct search *search, struct search_result *result,
		     struct message *ret_last, struct uspl_err *err)
{
	struct search_found *found;
	struct message message;
	ssize_t got;
	int rc;

	*ret_last = (struct message){ .kind = ANSWER };
	for (;;) {
		got = read(fd, &message, sizeof(message));
		if (got < 0 && errno == EINTR && !cancel_requested())
			continue;
		/* The end of the pipe, or a signal to this command. */
		if (got != sizeof(message))
			return cancel_check(err);
		*ret_last = message;
		if (message.kind != ANSWER || message.answer == SEARCH_OTHER)
			continue;
		if (message.answer == SEARCH_LEFT_OUT) {
			rc = search_know(search, &message.process, err);
			if (rc)
				return rc;
			continue;
		}
		found = vec_push(&result->found);
		if (!found)
			return uspl_fail_nomem(err);
		*found = (struct search_found){ message.process, message.answer };
	}
}

/* The child has ended before its time. */
static int leave_out(struct search *search, const struct message *last, int status,
		     struct uspl_err *err)
{
	struct uspl_err note;

	if (last->kind != BEGIN)
		return uspl_fail(err, USPL_E_SYSTEM,
				 "the process that was to look at all others has ended by signal "
				 "%d",
				 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	uspl_fail(&note, USPL_E_HOSTILE,
		  "pid %d is left out: the process that looked at it has ended by signal %d",
		  last->process.pid, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	uspl_err_note(stderr, &note);
	return search_know(search, &last->process, err);
}

/* One child's search. *ret_again: the child has died of a process, which is known now. */
static int search_once(struct search *search, struct search_result *result, bool *ret_again,
		       struct uspl_err *err)
{
	auto_close int in = -1, out = -1;
	pid_t starter = getpid(), child;
	struct message last, end = { .kind = END };
	int fds[2], status = 0, rc;

	if (pipe(fds) < 0)
		return uspl_fail_errno(err, "cannot create a pipe");
	in = fds[0];
	out = fds[1];
	fflush(NULL);
	child = fork();
	if (child < 0)
		return uspl_fail_errno(err, "cannot create a process");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != starter)
			_exit(USPL_STATUS_FAILED);
		confine(CONFINE_LOOK);
		end.rc = look_at_all(search, out, &end);
		send(out, &end);
		_exit(USPL_STATUS_DONE);
	}
	close(take_fd(out));
	rc = listen_to(in, search, result, &last, err);
	if (rc)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (rc)
		return rc;
	*ret_again = last.kind != END;
	if (*ret_again)
		return leave_out(search, &last, status, err);
	result->n_meant = last.n_meant;
	result->n_denied = last.n_denied;
	result->n_hidden = last.n_hidden;
	return last.rc == -USPL_E_CANCELLED ? uspl_fail(err, USPL_E_CANCELLED, "interrupted")
	       : last.rc
		       ? uspl_fail(err, (enum uspl_code) - last.rc, "cannot look at all processes")
		       : 0;
}

int search_run(struct search *search, struct search_result *ret, struct uspl_err *err)
{
	bool again = true;

	while (again) {
		int rc;

		search_result_release(ret);
		rc = search_once(search, ret, &again, err);
		if (rc)
			return rc;
	}
	return 0;
}

void search_result_release(struct search_result *result)
{
	vec_release(&result->found);
}
