// SPDX-License-Identifier: GPL-3.0-or-later
// search.c - which of the processes that are selected a command has to do with
/*
 * The child says through a pipe at which process it begins to look, what it has found there, and at
 * last how many there were. Where the pipe ends without that, the child has died of the process
 * that it had begun with, or was killed since it slept there, and another child goes on without
 * that one.
 */

#include "machine/search.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/cancel.h"
#include "base/confine.h"
#include "machine/lookout.h"

/* How often a child is looked after that says nothing. */
#define LOOK_MS 50

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

static bool is_slow(const struct search *search, const struct census_process *process)
{
	uid_t user = search->slow.n ? lookout_user(process->pid) : 0;
	const uid_t *slow;

	vec_for_each (&search->slow, slow)
		if (*slow == user)
			return true;
	return false;
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

		if (search_knows(search, process) || is_slow(search, process))
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

/* A child that looks, as its parent has it. */
struct child {
	pid_t pid;
	int fd; /* what it says */
	struct lookout_pulse pulse;
	bool stuck; /* it sleeps, and doesn't say what it has found */
};

/* False at the end of the pipe, if the child is stuck, or after a signal to this command. */
static bool receive(struct child *child, struct message *ret)
{
	struct pollfd news = { .fd = child->fd, .events = POLLIN };

	for (;;) {
		int ready = poll(&news, 1, LOOK_MS);
		ssize_t got = ready > 0 ? read(child->fd, ret, sizeof(*ret)) : -1;

		if (got == sizeof(*ret))
			return true;
		if (ready == 0) {
			child->stuck = lookout_is_stuck(child->pid, &child->pulse);
			if (child->stuck)
				return false;
			continue;
		}
		if (got >= 0 || errno != EINTR || cancel_requested())
			return false;
	}
}

/* What the child says; *ret_last is the last message, END if it came to its end. */
static int listen_to(struct child *child, struct search *search, struct search_result *result,
		     struct message *ret_last, struct uspl_err *err)
{
	struct search_found *found;
	struct message message;
	int rc;

	*ret_last = (struct message){ .kind = ANSWER };
	while (receive(child, &message)) {
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
	return cancel_check(err);
}

/* The child has ended before its time, by that signal, or it is stuck: 0. */
static int leave_out(struct search *search, const struct message *last, int sig,
		     struct uspl_err *err)
{
	pid_t pid = last->process.pid;
	uid_t *slow, user = sig ? 0 : lookout_user(pid);
	struct uspl_err note;

	if (last->kind != BEGIN)
		return uspl_fail(err, USPL_E_SYSTEM,
				 "the process that was to look at all others has ended by signal "
				 "%d",
				 sig);
	if (user) {
		slow = vec_push(&search->slow);
		if (!slow)
			return uspl_fail_nomem(err);
		*slow = user;
	}
	if (sig)
		uspl_fail(&note, USPL_E_HOSTILE,
			  "pid %d is left out: the process that looked at it has ended by signal "
			  "%d",
			  pid, sig);
	else
		lookout_fail(pid, user, &note);
	uspl_err_note(stderr, &note);
	return search_know(search, &last->process, err);
}

/* One child's search, as its parent sees it: until it ends, or is stuck. *ret_sig: its end's. */
static int attend(struct search *search, struct child *child, struct search_result *result,
		  struct message *ret_last, int *ret_sig, struct uspl_err *err)
{
	int status = 0, rc = listen_to(child, search, result, ret_last, err);

	if (rc || child->stuck)
		lookout_kill(child->pid);
	if (rc)
		return rc;
	while (!child->stuck && waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	*ret_sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return 0;
}

static void run_child(const struct search *search, int fd, const struct child_output *output,
		      pid_t starter)
{
	struct message end = { .kind = END };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != starter || !lookout_enter(output, fd))
		_exit(USPL_STATUS_FAILED);
	confine(CONFINE_LOOK);
	end.rc = look_at_all(search, fd, &end);
	fflush(NULL);
	send(fd, &end);
	_exit(USPL_STATUS_DONE);
}

/* *ret_again: the child has died of a process, or was stuck there; the process is known now. */
static int search_once(struct search *search, struct search_result *result, bool *ret_again,
		       struct uspl_err *err)
{
	auto_close int in = -1, out = -1;
	struct child_output output;
	struct child child = { 0 };
	pid_t starter = getpid();
	struct message last;
	int fds[2], sig = 0, rc;

	if (pipe(fds) < 0)
		return uspl_fail_errno(err, "cannot create a pipe");
	in = child.fd = fds[0];
	out = fds[1];
	if (!child_output_open(&output))
		return uspl_fail_errno(err, "cannot create a file in memory");
	fflush(NULL);
	child.pid = fork();
	if (child.pid == 0)
		run_child(search, out, &output, starter);
	close(take_fd(out));
	rc = child.pid < 0 ? uspl_fail_errno(err, "cannot create a process")
			   : attend(search, &child, result, &last, &sig, err);
	child_output_pass_on(&output);
	child_output_close(&output);
	if (rc)
		return rc;
	*ret_again = last.kind != END;
	if (*ret_again)
		return leave_out(search, &last, sig, err);
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

void search_release(struct search *search)
{
	strmap_release(&search->known);
	vec_release(&search->slow);
}
