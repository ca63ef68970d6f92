// SPDX-License-Identifier: GPL-3.0-or-later
// daemon.c - the service that gives what is enabled to processes as they begin

#include "machine/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "machine/daemon/exec_events.h"
#include "machine/daemon/goals.h"
#include "machine/daemon/known.h"
#include "machine/daemon/open_events.h"
#include "machine/daemon/packages.h"
#include "machine/wanted.h"
#include "machine/watch_socket.h"

#define MS INT64_C(1000000)
#define BATCHES_MAX 8
/* The dynamic linker maps a library within this, usually. */
#define MAPPED_NS (2 * MS)
/* A look at all processes after work, for those that were forked meanwhile. */
#define AFTER_WORK_NS (1000 * MS)
/* And where something may have been missed; less often where it takes long. */
#define DOUBT_NS (5000 * MS)
#define DOUBT_FACTOR 200
/* No sweep takes more than a share of the time that passes, nor do batches. */
#define SWEEP_FACTOR 20
#define BATCH_NS (20 * MS)
/* Executions at such distances wait for each other. */
#define CLOSE_NS (10 * MS)
#define PAUSE_NS (8 * MS)
#define LOCK "watch.lock"

struct daemon {
	bool quiet, ending;
	int exec_fd, open_fd, folder_fd, packages_fd, signal_fd, socket_fd, lock_fd;
	struct goals goals;
	known_vec known;
	pid_vec queue;  /* for the next batch */
	pid_vec opened; /* have opened a library, and are looked at when it is mapped */
	struct batch batches[BATCHES_MAX]; /* known by their places, from 1 on */
	int64_t opened_due, sweep_due;     /* 0: not at all */
	int64_t swept, sweep_ns;           /* when the last one ended, and what it took */
	int64_t batched;                   /* when the last batch was begun */
	int64_t heard, pause_end;          /* the last executions; no more are taken before that */
	time_t since;
	uint64_t n_execs, n_opens, n_sweeps, n_applied;
};

static void sweep_by(struct daemon *daemon, int64_t ns)
{
	int64_t due = clock_now_ns() + ns;
	int64_t soonest = daemon->swept + daemon->sweep_ns * SWEEP_FACTOR;

	due = due < soonest ? soonest : due;
	if (!daemon->sweep_due || due < daemon->sweep_due)
		daemon->sweep_due = due;
}

/* The process is worked on next. One that has ended may have left children. */
static int enqueue(struct daemon *daemon, pid_t pid, struct uspl_err *err)
{
	struct census_process process;
	bool is_kernel;

	if (census_read(pid, &process, &is_kernel, NULL) != 0) {
		sweep_by(daemon, 0);
		return 0;
	}
	return known_add(&daemon->known, &process) ? cli_add_pid(&daemon->queue, pid, err)
						   : uspl_fail_nomem(err);
}

/* Puts what is queued into a batch, if there is room for one. */
static int start_batch(struct daemon *daemon, struct uspl_err *err)
{
	const pid_t *pid;
	struct known_process *it;
	size_t i = 0;
	int rc;

	while (i < BATCHES_MAX && daemon->batches[i].child)
		i++;
	if (!daemon->queue.n || i == BATCHES_MAX || daemon->ending ||
	    clock_now_ns() < daemon->batched + BATCH_NS)
		return 0;
	vec_for_each (&daemon->queue, pid)
		vec_for_each (&daemon->known, it)
			if (it->process.pid == *pid && it->state == KNOWN_WORKING && !it->batch)
				it->batch = i + 1;
	rc = batch_start(&daemon->batches[i], &daemon->queue, err);
	if (rc)
		return rc;
	daemon->batched = clock_now_ns();
	return 0;
}

struct taking {
	struct daemon *daemon;
	size_t number;
};

static void take_outcome(const struct outcome *outcome, void *ctx)
{
	struct taking *taking = ctx;
	struct daemon *daemon = taking->daemon;

	known_take(&daemon->known, taking->number, outcome);
	if (outcome->error || !outcome->changed)
		return;
	daemon->n_applied++;
	if (!daemon->quiet)
		printf("applied %s to pid %d, stopped %.0f us\n", outcome->id, outcome->pid,
		       outcome->stop_us);
	fflush(stdout);
}

/* A process that the batch was at may have forked meanwhile, or have ended and left a child. */
static void end_batch(struct daemon *daemon, size_t i)
{
	struct taking taking = { daemon, i + 1 };
	struct batch *batch = &daemon->batches[i];
	const struct known_process *known;
	bool is_gone = false;
	const pid_t *pid;

	batch_each(batch, take_outcome, &taking);
	vec_for_each (&daemon->known, known)
		if (known->batch == taking.number && known_is_other_program(known))
			goals_rule_out(&daemon->goals, known->process.pid);
	known_end_batch(&daemon->known, taking.number, clock_now_ns());
	vec_for_each (&batch->pids, pid)
		is_gone |= kill(*pid, 0) < 0 && errno == ESRCH;
	batch_release(batch);
	sweep_by(daemon, is_gone ? 0 : AFTER_WORK_NS);
}

/* Enqueues the process if an update may be for what it runs, and says what it is. */
static int look_at(struct daemon *daemon, pid_t pid, enum goal *ret, struct uspl_err *err)
{
	auto_buf struct buf library = { 0 }, path = { 0 };

	*ret = goals_judge_process(&daemon->goals, pid, &library);
	if (*ret == GOAL_LIBRARY) {
		buf_addf(&path, "/proc/%d/root%s", pid, buf_str(&library));
		if (!path.oom)
			open_events_mark(daemon->open_fd, buf_str(&path));
	}
	return *ret == GOAL_LIBRARY || *ret == GOAL_PROGRAM ? enqueue(daemon, pid, err) : 0;
}

/* Looks at all processes that nothing is known of. */
static int sweep(struct daemon *daemon, struct uspl_err *err)
{
	auto_vec census_vec all = { 0 };
	const struct census_process *process;
	struct known_process *known;
	int64_t begin = clock_now_ns();
	enum goal goal;
	int rc = census_all(&all, err);

	daemon->sweep_due = 0;
	daemon->n_sweeps++;
	vec_for_each (&daemon->known, known)
		known->seen = false;
	vec_for_each (&all, process) {
		known = known_find(&daemon->known, process);
		if (known)
			known->seen = true;
		else if (!rc)
			rc = look_at(daemon, process->pid, &goal, err);
	}
	if (rc)
		return rc;
	known_drop_unseen(&daemon->known);
	daemon->swept = clock_now_ns();
	daemon->sweep_ns = daemon->swept - begin;
	return 0;
}

/* The places in which ld.so(8) looks for a library by default; sweeps find those elsewhere. */
static void mark_usual_places(const struct daemon *daemon)
{
	static const char *const folders[] = { "/lib/x86_64-linux-gnu",
					       "/usr/lib/x86_64-linux-gnu",
					       "/lib64",
					       "/usr/lib64",
					       "/lib",
					       "/usr/lib",
					       "/usr/local/lib" };
	char *const *name;

	vec_for_each (&daemon->goals.libraries, name)
		for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
			auto_free char *path = file_join(folders[i], *name);

			if (path)
				open_events_mark(daemon->open_fd, path);
		}
}

/* What is enabled has changed, or may have: nothing that is known counts any more. */
static void read_list(struct daemon *daemon)
{
	struct uspl_err why = { 0 };

	goals_release(&daemon->goals);
	known_release(&daemon->known);
	daemon->queue.n = daemon->opened.n = 0;
	open_events_forget(daemon->open_fd);
	if (goals_read(&daemon->goals, &why) != 0 ||
	    exec_events_listen(daemon->exec_fd, daemon->goals.n_updates, &why) != 0)
		uspl_err_print(stderr, "uspl-watch", &why);
	packages_let_go(&daemon->goals.superseded, daemon->quiet);
	mark_usual_places(daemon);
	log_info("watch", "enabled updates: %zu", daemon->goals.n_updates);
	daemon->sweep_due = 0;
	if (daemon->goals.n_updates)
		sweep_by(daemon, 0);
}

/* Each of the processes has executed a program. */
static int take_execs(struct daemon *daemon, struct uspl_err *err)
{
	auto_vec pid_vec pids = { 0 };
	bool lost = false;
	const pid_t *pid;
	int64_t now = clock_now_ns(), seldom = daemon->sweep_ns * DOUBT_FACTOR;
	int rc = exec_events_read(daemon->exec_fd, &pids, &lost, err);

	daemon->n_execs += pids.n;
	if (!daemon->goals.n_updates)
		return rc;
	if (lost)
		sweep_by(daemon, 0);
	/* Where executions follow each other closely, several are taken at once. */
	if (now - daemon->heard < CLOSE_NS)
		daemon->pause_end = now + PAUSE_NS;
	daemon->heard = now;
	vec_for_each (&pids, pid) {
		enum goal goal;

		if (rc)
			return rc;
		known_forget(&daemon->known, *pid);
		goal = goals_judge_exec(&daemon->goals, *pid);
		if (goal == GOAL_PROGRAM)
			rc = enqueue(daemon, *pid, err);
		else if (goal == GOAL_GONE || (goal == GOAL_NONE && daemon->goals.libraries.n))
			sweep_by(daemon, seldom > DOUBT_NS ? seldom : DOUBT_NS);
	}
	return rc;
}

/* A process that hasn't mapped it by now is found by a sweep, if it ever does. */
static int look_at_opened(struct daemon *daemon, struct uspl_err *err)
{
	const pid_t *pid;
	int rc = 0;

	daemon->opened_due = 0;
	vec_for_each (&daemon->opened, pid) {
		struct known_process *known;
		bool is_queued = false;
		enum goal goal;

		vec_for_each (&daemon->known, known)
			is_queued |= known->process.pid == *pid && known->state == KNOWN_WORKING &&
				     !known->batch;
		if (is_queued)
			continue;
		/* What is known may be about the time before. */
		known_forget(&daemon->known, *pid);
		rc = look_at(daemon, *pid, &goal, err);
		if (rc)
			break;
		/* Our tools open files by the dozen. */
		if (goal != GOAL_OURS)
			sweep_by(daemon, AFTER_WORK_NS);
	}
	daemon->opened.n = 0;
	return rc;
}

/* Processes for which the time for another try has come. */
static int try_again(struct daemon *daemon, struct uspl_err *err)
{
	auto_vec pid_vec due = { 0 };
	int64_t now = clock_now_ns();
	struct known_process *known;
	const pid_t *pid;
	int rc = 0;

	vec_for_each (&daemon->known, known)
		if (!rc && known->state == KNOWN_RETRY && known->due <= now)
			rc = cli_add_pid(&due, known->process.pid, err);
	vec_for_each (&due, pid)
		rc = rc ? rc : enqueue(daemon, *pid, err);
	return rc;
}

/*
 * Something was removed that must be there. The kernel doesn't tell of the folder's own end while
 * the socket in it is open, so the socket stands for it.
 */
static bool is_end(const struct inotify_event *event)
{
	return event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) ||
	       (event->mask & IN_DELETE && event->len && !strcmp(event->name, WATCH_SOCKET));
}

/* The list is replaced as a whole (wanted.c). */
static int take_folder(struct daemon *daemon, struct uspl_err *err)
{
	_Alignas(struct inotify_event) char events[4096];
	bool changed = false;
	ssize_t got;

	while ((got = read(daemon->folder_fd, events, sizeof(events))) > 0) {
		for (const char *at = events; at < events + got;) {
			const struct inotify_event *event = (const void *)at;

			if (is_end(event))
				return uspl_fail(
					err, USPL_E_SYSTEM,
					"the folder '%s' was removed, or its " WATCH_SOCKET,
					wanted_folder());
			/* Without a name: the folder's own mode or owner. */
			changed |= !event->len ||
				   (!(event->mask & IN_ATTRIB) && wanted_is_list(event->name));
			at += sizeof(*event) + event->len;
		}
	}
	if (changed)
		read_list(daemon);
	return 0;
}

static void answer(const struct daemon *daemon)
{
	auto_close int fd = accept4(daemon->socket_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	auto_json struct json json = { 0 };
	int size;

	if (fd < 0)
		return;
	json_open(&json, NULL, '{');
	json_number(&json, "pid", getpid());
	json_number(&json, "since", daemon->since);
	json_number(&json, "enabled", (int64_t)daemon->goals.n_updates);
	json_number(&json, "execs", (int64_t)daemon->n_execs);
	json_number(&json, "opens", (int64_t)daemon->n_opens);
	json_number(&json, "sweeps", (int64_t)daemon->n_sweeps);
	json_number(&json, "applied", (int64_t)daemon->n_applied);
	json_open(&json, "processes", '[');
	known_json(&daemon->known, &json);
	json_close(&json, ']');
	json_close(&json, '}');
	/* It must fit: the service doesn't wait for the other side. */
	size = (int)strlen(json_text(&json)) + 4096;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	if (send(fd, json_text(&json), strlen(json_text(&json)), MSG_NOSIGNAL) < 0)
		log_info("watch", "a question could not be answered: %s", strerror(errno));
}

/* When what is queued may be begun with; 0: there is nothing, or all places are taken. */
static int64_t next_batch(const struct daemon *daemon)
{
	for (size_t i = 0; daemon->queue.n && i < BATCHES_MAX; i++)
		if (!daemon->batches[i].child)
			return daemon->batched + BATCH_NS;
	return 0;
}

/* Milliseconds, rounded up; -1: there is nothing to wait for but news. */
static int wait_ms(const struct daemon *daemon)
{
	const int64_t dues[] = { daemon->opened_due, daemon->sweep_due,
				 known_next_due(&daemon->known), next_batch(daemon),
				 daemon->pause_end };
	int64_t next = 0, rest;

	for (size_t i = 0; i < ARRAY_SIZE(dues); i++)
		if (dues[i] && (!next || dues[i] < next))
			next = dues[i];
	if (!next || daemon->ending)
		return -1;
	rest = next - clock_now_ns();
	return rest <= 0 ? 0 : (int)((rest + MS - 1) / MS);
}

static int do_what_is_due(struct daemon *daemon, struct uspl_err *err)
{
	int64_t now = clock_now_ns(), retry = known_next_due(&daemon->known);
	int rc = 0;

	if (daemon->ending)
		return 0;
	if (daemon->pause_end <= now)
		daemon->pause_end = 0;
	if (daemon->opened_due && daemon->opened_due <= now)
		rc = look_at_opened(daemon, err);
	if (!rc && daemon->sweep_due && daemon->sweep_due <= now)
		rc = sweep(daemon, err);
	if (!rc && retry && retry <= now)
		rc = try_again(daemon, err);
	return rc ? rc : start_batch(daemon, err);
}

static bool is_idle(const struct daemon *daemon)
{
	for (size_t i = 0; i < BATCHES_MAX; i++)
		if (daemon->batches[i].child)
			return false;
	return true;
}

/* Waits for news, and takes it. */
static int turn(struct daemon *daemon, struct uspl_err *err)
{
	enum { EXEC, OPEN, FOLDER, PACKAGES, SIGNAL, QUESTION, BATCHES };
	struct pollfd fds[BATCHES + BATCHES_MAX] = {
		[EXEC] = { daemon->ending || daemon->pause_end ? -1 : daemon->exec_fd, POLLIN, 0 },
		[OPEN] = { daemon->ending ? -1 : daemon->open_fd, POLLIN, 0 },
		[FOLDER] = { daemon->ending ? -1 : daemon->folder_fd, POLLIN, 0 },
		[PACKAGES] = { daemon->ending ? -1 : daemon->packages_fd, POLLIN, 0 },
		[SIGNAL] = { daemon->signal_fd, POLLIN, 0 },
		[QUESTION] = { daemon->socket_fd, POLLIN, 0 },
	};
	struct signalfd_siginfo info;
	bool lost = false;
	size_t n_opened;
	int rc = 0;

	for (size_t i = 0; i < BATCHES_MAX; i++)
		fds[BATCHES + i] =
			(struct pollfd){ daemon->batches[i].child ? daemon->batches[i].fd : -1,
					 POLLIN, 0 };
	if (poll(fds, ARRAY_SIZE(fds), wait_ms(daemon)) < 0)
		return errno == EINTR ? 0 : uspl_fail_errno(err, "cannot wait for news");
	if (fds[SIGNAL].revents && read(daemon->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			read_list(daemon);
		else
			daemon->ending = true;
	}
	for (size_t i = 0; i < BATCHES_MAX; i++)
		if (fds[BATCHES + i].revents && batch_read(&daemon->batches[i]))
			end_batch(daemon, i);
	if (fds[QUESTION].revents)
		answer(daemon);
	if (fds[FOLDER].revents)
		rc = take_folder(daemon, err);
	if (fds[PACKAGES].revents && packages_read_news(daemon->packages_fd) &&
	    daemon->goals.of_packages)
		read_list(daemon);
	if (!rc && fds[EXEC].revents)
		rc = take_execs(daemon, err);
	/* Each of the processes has opened a library that is meant: to map it, or to read it. */
	if (!rc && fds[OPEN].revents) {
		n_opened = daemon->opened.n;
		rc = open_events_read(daemon->open_fd, &daemon->opened, &lost, err);
		daemon->n_opens += daemon->opened.n - n_opened;
		if (daemon->opened.n && !daemon->opened_due)
			daemon->opened_due = clock_now_ns() + MAPPED_NS;
	}
	if (lost)
		sweep_by(daemon, 0);
	return rc ? rc : do_what_is_due(daemon, err);
}

/* One watch at a time: it has the lock for as long as it lives. */
static int open_socket(struct daemon *daemon, struct uspl_err *err)
{
	auto_free char *lock = file_join(wanted_folder(), LOCK);

	if (!lock)
		return uspl_fail_nomem(err);
	daemon->lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (daemon->lock_fd < 0)
		return uspl_fail_errno(err, "cannot open '%s'", lock);
	if (flock(daemon->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK
			       ? uspl_fail(err, USPL_E_CONFLICT, "a watch is at work already")
			       : uspl_fail_errno(err, "cannot lock '%s'", lock);
	return watch_socket_listen(&daemon->socket_fd, err);
}

/* Tells the service manager, if there is one that asks for it (sd_notify(3), "Notes"). */
static void notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	auto_close int fd = -1;
	size_t len = path ? strlen(path) : 0;

	if (len < 2 || len >= sizeof(name.sun_path))
		return;
	memcpy(name.sun_path, path, len);
	if (path[0] == '@')
		name.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&name,
			     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0)
		log_info("watch", "the service manager can't be told: %s", strerror(errno));
}

static int run(struct daemon *daemon, struct uspl_err *err)
{
	const uint32_t news = IN_MOVED_TO | IN_DELETE | IN_CLOSE_WRITE | IN_ATTRIB |
			      IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
	sigset_t taken;
	int rc = wanted_make_folder(err);

	if (rc)
		return rc;
	/* Before the folder is watched: this removes an old socket, which isn't to be news. */
	rc = open_socket(daemon, err);
	if (rc)
		return rc;
	daemon->folder_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (daemon->folder_fd < 0 ||
	    inotify_add_watch(daemon->folder_fd, wanted_folder(), news) < 0)
		return uspl_fail_errno(err, "cannot watch the folder '%s'", wanted_folder());
	rc = exec_events_open(&daemon->exec_fd, err);
	if (rc)
		return rc;
	rc = open_events_open(&daemon->open_fd, err);
	if (rc)
		return rc;
	sigemptyset(&taken);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGINT);
	sigaddset(&taken, SIGHUP);
	sigprocmask(SIG_BLOCK, &taken, NULL);
	daemon->signal_fd = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (daemon->signal_fd < 0)
		return uspl_fail_errno(err, "cannot take signals");
	daemon->packages_fd = packages_open_news();
	daemon->since = time(NULL);
	read_list(daemon);
	notify("READY=1");
	if (!daemon->quiet)
		printf("watching: %zu update%s enabled\n", daemon->goals.n_updates,
		       daemon->goals.n_updates == 1 ? " is" : "s are");
	fflush(stdout);
	while (!rc && !(daemon->ending && is_idle(daemon)))
		rc = turn(daemon, err);
	notify("STOPPING=1");
	return rc;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

int daemon_run(bool quiet, struct uspl_err *err)
{
	struct daemon daemon = {
		.quiet = quiet,
		.exec_fd = -1,
		.open_fd = -1,
		.folder_fd = -1,
		.packages_fd = -1,
		.signal_fd = -1,
		.socket_fd = -1,
		.lock_fd = -1,
	};
	int rc = run(&daemon, err);

	for (size_t i = 0; i < BATCHES_MAX; i++)
		if (daemon.batches[i].child)
			batch_release(&daemon.batches[i]);
	goals_release(&daemon.goals);
	known_release(&daemon.known);
	vec_release(&daemon.queue);
	vec_release(&daemon.opened);
	close_fd(daemon.exec_fd);
	close_fd(daemon.open_fd);
	close_fd(daemon.folder_fd);
	close_fd(daemon.packages_fd);
	close_fd(daemon.signal_fd);
	close_fd(daemon.socket_fd);
	close_fd(daemon.lock_fd);
	return rc;
}
