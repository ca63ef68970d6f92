// SPDX-License-Identifier: GPL-3.0-or-later
// lookout.c - a command that looks at processes does so in a child, and leaves out the one that
// keeps it waiting
/*
 * The child tells by memory that it shares with its parent where it is; the parent tells the next
 * child in the same way which processes are left out. A child that doesn't die of SIGKILL either,
 * as in a file system that has taken its request, is left behind.
 */

#include "machine/lookout.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/worker.h"
#include "proc/task.h"

/* How long a child may sleep in the middle of its look. */
#define PATIENCE_NS 2000000000ll
/* How often it is looked after; to be told of its end takes no time. */
#define LOOK_NS 50000000
/* How long a child that was killed is waited for. */
#define DEATH_NS 500000000ll
/* So many processes are left out at most: one for each user, but for root. */
#define LEFT_MAX 64

struct left_out {
	pid_t pid;
	uid_t uid;
};

/* What parent and children tell each other. */
struct shared {
	volatile pid_t at; /* the process that the child looks at; 0: none */
	size_t n_left;
	struct left_out left[LEFT_MAX];
};

static struct shared *shared;

uid_t lookout_user(pid_t pid)
{
	auto_buf struct buf text = { 0 };
	const char *uid = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (file_read(path, &text, NULL) == 0)
		uid = task_status_field(&text, "Uid");
	return uid ? (uid_t)strtoul(uid, NULL, 10) : 0;
}

bool lookout_is_stuck(pid_t child, struct lookout_pulse *pulse)
{
	auto_buf struct buf text = { 0 };
	int64_t now = clock_now_ns();
	const char *state, *count;
	uint64_t switches;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", child);
	if (file_read(path, &text, NULL) != 0)
		return false;
	state = task_status_field(&text, "State");
	count = task_status_field(&text, "voluntary_ctxt_switches");
	if (!state || !count)
		return false;
	switches = strtoull(count, NULL, 10);
	state += strspn(state, "\t");
	if (!pulse->since_ns || switches != pulse->switches || (*state != 'S' && *state != 'D'))
		*pulse = (struct lookout_pulse){ switches, now };
	return now - pulse->since_ns >= PATIENCE_NS;
}

bool lookout_may(pid_t pid)
{
	uid_t uid = shared && shared->n_left ? lookout_user(pid) : 0;

	for (size_t i = 0; shared && i < shared->n_left; i++)
		if (shared->left[i].pid == pid || (uid && shared->left[i].uid == uid))
			return false;
	if (shared)
		shared->at = pid;
	return true;
}

void lookout_end(void)
{
	if (shared)
		shared->at = 0;
}

int lookout_fail(pid_t pid, uid_t user, struct uspl_err *err)
{
	static const char what[] = "keeps those waiting who read its memory or its files: it is "
				   "left out";

	if (!user)
		return uspl_fail(err, USPL_E_HOSTILE, "pid %d %s", pid, what);
	return uspl_fail(err, USPL_E_HOSTILE,
			 "pid %d %s, and so are the other processes of its user, %u", pid, what,
			 (unsigned int)user);
}

pid_t lookout_left(size_t i, struct uspl_err *ret)
{
	const struct left_out *left = shared && i < shared->n_left ? &shared->left[i] : NULL;

	if (!left)
		return 0;
	*ret = (struct uspl_err){ 0 };
	lookout_fail(left->pid, left->uid, ret);
	return left->pid;
}

bool lookout_enter(const struct child_output *output, int keep)
{
	const int from = STDERR_FILENO + 1;

	if (!child_output_enter(output))
		return false;
	/* Linux 5.9; before that they stay open. */
	if (keep > from)
		close_range((unsigned int)from, (unsigned int)keep - 1, 0);
	close_range((unsigned int)(keep < from ? from : keep + 1), ~0u, 0);
	return true;
}

/* In the child. */
static void begin_to_look(pid_t starter, const struct child_output *output, const sigset_t *mask)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != starter || !lookout_enter(output, -1))
		_exit(USPL_STATUS_FAILED);
	shared->at = 0;
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/* False after the time; *ret_status is waitpid's. */
static bool await_child(pid_t child, int64_t ns, int *ret_status)
{
	const struct timespec look = { 0, LOOK_NS };
	int64_t until = clock_now_ns() + ns;
	sigset_t ended;
	pid_t got;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	for (;;) {
		got = waitpid(child, ret_status, WNOHANG);
		if (got == child)
			return true;
		if (clock_now_ns() >= until)
			return false;
		sigtimedwait(&ended, NULL, &look);
	}
}

void lookout_kill(pid_t child)
{
	int status;

	kill(child, SIGKILL);
	await_child(child, DEATH_NS, &status);
}

static int leave_out(pid_t pid, struct uspl_err *err)
{
	if (shared->n_left == LEFT_MAX) {
		uspl_fail(err, USPL_E_HOSTILE,
			  "%d processes of as many users keep those waiting who read their memory "
			  "or their files",
			  LEFT_MAX);
		uspl_hint(err, "name the processes that are meant");
		return -USPL_E_HOSTILE;
	}
	shared->left[shared->n_left++] = (struct left_out){ pid, lookout_user(pid) };
	return 0;
}

/*
 * One child's look, until its end: true, with its exit status. Or until it is stuck, and another
 * one is to begin.
 */
static bool look_after(pid_t child, struct child_output *output, int *ret_status,
		       struct uspl_err *err)
{
	struct lookout_pulse pulse = { 0 };
	int status;
	pid_t at;

	while (!await_child(child, LOOK_NS, &status)) {
		at = shared->at;
		if (!at || !lookout_is_stuck(child, &pulse) || at != shared->at)
			continue;
		lookout_kill(child);
		*ret_status = leave_out(at, err);
		return *ret_status;
	}
	*ret_status = child_output_pass_on(output) ? worker_status(status) : USPL_STATUS_FAILED;
	return true;
}

bool lookout_begin(int *ret_status, struct uspl_err *err)
{
	pid_t starter = getpid(), child;
	sigset_t ended, old;
	bool done = false;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED) {
		shared = NULL;
		return true;
	}
	/* An ignored SIGCHLD, which a command may inherit, would leave nothing to wait for. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, &old);
	fflush(NULL);
	while (!done) {
		struct child_output output;

		child = child_output_open(&output) ? fork() : -1;
		if (child == 0)
			begin_to_look(starter, &output, &old);
		if (child < 0)
			sigprocmask(SIG_SETMASK, &old, NULL);
		if (child <= 0)
			return true;
		done = look_after(child, &output, ret_status, err);
		child_output_close(&output);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return false;
}
