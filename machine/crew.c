// SPDX-License-Identifier: GPL-3.0-or-later
// crew.c - work on many processes at once, in children
/*
 * A child takes the next process that none has taken, until none is left: to make a child costs as
 * much as a good part of the work. Which process it has taken, and how much it had printed when it
 * was done with one, stands in memory that it shares with the parent.
 *
 * A child is active while it wants a processor: the kernel counts how long it has run, and how long
 * it has waited to run (/proc/PID/schedstat). The parent looks at these from time to time; a child
 * that wanted little since the last look waits for a target, and another one may begin. It takes no
 * other process when it is done with that one.
 */

#include "machine/crew.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/file.h"
#include "machine/child_output.h"
#include "proc/ending.h"
#include "thread/thread.h"

/* Each holds a program's code and its symbols. */
#define CHILDREN_MAX 32
#define LOOK_NS 50000000

/* How much a child has printed about the processes that it is done with. */
struct printed {
	_Atomic off_t out, err;
};

struct shared {
	_Atomic size_t next; /* the first member that no child has taken */
	struct printed printed[CHILDREN_MAX];
	_Atomic bool done[]; /* of each member */
};

struct child {
	pid_t pid;
	struct printed *printed;
	struct child_output output;
	int pidfd;
	int64_t looked_at;
	uint64_t wanted; /* nanoseconds of processors, at the last look */
	bool active;
};

struct crew {
	const crew_vec *members;
	const struct crew_work *work;
	struct shared *shared;
	int news; /* an eventfd: a child is done with a process */
	struct child children[CHILDREN_MAX];
	size_t n, n_processors;
	sigset_t cancels, before;
	bool cancelled; /* they were told */
	int signal;     /* that one of them has ended by */
	int worst;
};

static bool is_more(const struct crew *crew)
{
	return crew->shared->next < crew->members->n;
}

/* In the child: works on one process after the other, and returns the worst status. */
static int work_on(const struct crew *crew, const struct child *child)
{
	const uint64_t one = 1;
	int worst = USPL_STATUS_DONE;
	int64_t began;

	do {
		size_t i = crew->shared->next++;
		int status;

		if (i >= crew->members->n)
			break;
		began = clock_now_ns();
		status = crew->work->run(&crew->members->items[i], crew->work->ctx);
		worst = status > worst ? status : worst;
		fflush(NULL);
		child->printed->out = lseek(child->output.out, 0, SEEK_CUR);
		child->printed->err = lseek(child->output.err, 0, SEEK_CUR);
		crew->shared->done[i] = true;
		if (write(crew->news, &one, sizeof(one)) < 0)
			break;
	} while (clock_now_ns() - began < 2 * LOOK_NS);
	return worst;
}

/* Nothing can be done about the process. */
static void give_up(struct crew *crew, size_t member, const struct uspl_err *why)
{
	int status = (int)uspl_code_status((int)why->code);

	crew->shared->done[member] = true;
	crew->work->fail(&crew->members->items[member], why, crew->work->ctx);
	crew->worst = status > crew->worst ? status : crew->worst;
}

/* One more child. False if there can be none. */
static bool begin(struct crew *crew, struct uspl_err *err)
{
	struct child child = { .pidfd = -1, .active = true };
	pid_t starter = getpid();
	int status;

	for (size_t i = 0; i < CHILDREN_MAX && !child.printed; i++) {
		child.printed = &crew->shared->printed[i];
		for (size_t k = 0; k < crew->n; k++)
			if (crew->children[k].printed == &crew->shared->printed[i])
				child.printed = NULL;
	}
	fflush(NULL);
	*child.printed = (struct printed){ 0 };
	child.pid = child_output_open(&child.output) ? fork() : -1;
	if (child.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != starter)
			raise(SIGTERM);
		sigprocmask(SIG_SETMASK, &crew->before, NULL);
		if (crew->cancelled)
			raise(SIGTERM);
		if (!child_output_enter(&child.output))
			_exit(USPL_STATUS_FAILED);
		status = work_on(crew, &child);
		thread_end_left();
		_exit(status);
	}
	if (child.pid > 0 && ending_open(child.pid, &child.pidfd, NULL) == 0) {
		child.looked_at = clock_now_ns();
		crew->children[crew->n++] = child;
		return true;
	}
	uspl_fail_errno(err, "cannot create a process for the work");
	if (child.pid > 0) {
		kill(child.pid, SIGTERM);
		waitpid(child.pid, NULL, 0);
	}
	child_output_close(&child.output);
	return false;
}

/* What it wants of processors, in all, in nanoseconds; false if the kernel doesn't say. */
static bool read_wanted(const struct child *child, uint64_t *ret)
{
	auto_buf struct buf text = { 0 };
	uint64_t ran, waited;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", child->pid);
	if (file_read(path, &text, NULL) != 0 ||
	    sscanf(buf_str(&text), "%" SCNu64 " %" SCNu64, &ran, &waited) != 2)
		return false;
	*ret = ran + waited;
	return true;
}

static size_t count_active(struct crew *crew)
{
	int64_t now = clock_now_ns();
	size_t n = 0;

	for (size_t i = 0; i < crew->n; i++) {
		struct child *child = &crew->children[i];
		uint64_t wanted = child->wanted, span = (uint64_t)(now - child->looked_at);

		/*
		 * Where the kernel doesn't count, a child that isn't ready soon is taken to wait.
		 */
		if (now - child->looked_at >= LOOK_NS) {
			child->active =
				read_wanted(child, &wanted) && wanted - child->wanted > span / 4;
			child->wanted = wanted;
			child->looked_at = now;
		}
		n += child->active;
	}
	return n;
}

/* A child has ended. */
static void finish(struct crew *crew, struct child *child)
{
	int status = 0;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	child_output_pass_on(&child->output);
	if (WIFEXITED(status) && WEXITSTATUS(status) > crew->worst)
		crew->worst = WEXITSTATUS(status);
	if (WIFSIGNALED(status))
		crew->signal = WTERMSIG(status);
	child_output_close(&child->output);
	close(child->pidfd);
	*child = crew->children[--crew->n];
}

/* Until there is news, a signal has come or, with work left, it is time to look. */
static void wait_for_news(struct crew *crew)
{
	const struct timespec pause = { 0, LOOK_NS };
	struct pollfd fds[CHILDREN_MAX + 1];
	uint64_t count;
	int ready;

	for (size_t i = 0; i < crew->n; i++)
		fds[i] = (struct pollfd){ .fd = crew->children[i].pidfd, .events = POLLIN };
	fds[crew->n] = (struct pollfd){ .fd = crew->news, .events = POLLIN };
	ready = ppoll(fds, crew->n + 1, is_more(crew) ? &pause : NULL, &crew->before);
	if (cancel_requested() && !crew->cancelled) {
		crew->cancelled = true;
		for (size_t i = 0; i < crew->n; i++)
			kill(crew->children[i].pid, SIGTERM);
	}
	if (ready <= 0)
		return;
	/* What children have printed about processes that they are done with. */
	if (fds[crew->n].revents && read(crew->news, &count, sizeof(count)) >= 0)
		for (size_t i = 0; i < crew->n; i++) {
			struct child *child = &crew->children[i];

			child_output_pass_on_to(&child->output, child->printed->out,
						child->printed->err);
		}
	/* From the end: the last one takes the place of one that has ended. */
	for (size_t i = crew->n; i-- > 0;)
		if (fds[i].revents)
			finish(crew, &crew->children[i]);
}

static void run_blocked(struct crew *crew)
{
	struct uspl_err why = { 0 };

	/* Signals are noted while we wait, and at no other time: none is missed. */
	sigemptyset(&crew->cancels);
	sigaddset(&crew->cancels, SIGINT);
	sigaddset(&crew->cancels, SIGTERM);
	sigaddset(&crew->cancels, SIGHUP);
	sigprocmask(SIG_BLOCK, &crew->cancels, &crew->before);
	while (is_more(crew) || crew->n) {
		bool could = true;

		while (could && is_more(crew) && crew->n < CHILDREN_MAX &&
		       count_active(crew) < crew->n_processors && crew->n < crew->members->n)
			could = begin(crew, &why);
		if (crew->n)
			wait_for_news(crew);
		else if (!could)
			give_up(crew, crew->shared->next++, &why);
	}
	sigprocmask(SIG_SETMASK, &crew->before, NULL);
	/* Members that a child was at when it died. */
	uspl_fail(&why, USPL_E_SYSTEM, "the process that worked on it has ended by signal %d",
		  crew->signal);
	uspl_hint(&why, "the same command completes what was begun");
	for (size_t i = 0; i < crew->members->n; i++)
		if (!crew->shared->done[i])
			give_up(crew, i, &why);
}

int crew_run(const crew_vec *members, const struct crew_work *work)
{
	size_t size = sizeof(struct shared) + members->n * sizeof(_Atomic bool);
	struct crew crew = {
		.members = members, .work = work, .n_processors = 1, .cancelled = cancel_requested()
	};
	const struct crew_member nobody = { 0 };
	struct uspl_err why = { 0 };
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		crew.n_processors = (size_t)CPU_COUNT(&set);
	crew.shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	crew.news = crew.shared == MAP_FAILED ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (crew.news >= 0) {
		run_blocked(&crew);
		close(crew.news);
	} else {
		uspl_fail_errno(&why, "cannot begin the work on %zu processes", members->n);
		work->fail(&nobody, &why, work->ctx);
		crew.worst = USPL_STATUS_FAILED;
	}
	if (crew.shared != MAP_FAILED)
		munmap(crew.shared, size);
	return crew.worst;
}
