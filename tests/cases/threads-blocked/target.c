// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has threads in every kind of blocking system call

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"

#define THREADS 100
#define HOUR 3600

/* What the threads block on: made once, and never ready. */
static struct {
	int pipe[2], full_pipe[2], event, timer, watch, epoll, sem_id, msg_id;
	int listener, pair[2], timed_pair[2], locked, signal;
	mqd_t queue;
	sem_t sem;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	sigset_t signals;
} on;

static atomic_int returned;
static _Atomic(const char *) who_returned;
static atomic_int last_errno;

static const struct timespec hour = { .tv_sec = HOUR };

/* An hour from now. */
static struct timespec later(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	ts.tv_sec += HOUR;
	return ts;
}

static void block_read(void)
{
	char c;

	(void)!read(on.pipe[0], &c, 1);
}

static void block_write(void)
{
	(void)!write(on.full_pipe[1], "x", 1);
}

static void block_eventfd(void)
{
	eventfd_t value;

	eventfd_read(on.event, &value);
}

static void block_timerfd(void)
{
	uint64_t ticks;

	(void)!read(on.timer, &ticks, sizeof(ticks));
}

static void block_inotify(void)
{
	char event[4096];

	(void)!read(on.watch, event, sizeof(event));
}

static void block_signalfd(void)
{
	struct signalfd_siginfo info;

	(void)!read(on.signal, &info, sizeof(info));
}

static void block_poll(void)
{
	poll(&(struct pollfd){ .fd = on.pipe[0], .events = POLLIN }, 1, -1);
}

static void block_poll_timed(void)
{
	poll(&(struct pollfd){ .fd = on.pipe[0], .events = POLLIN }, 1, HOUR * 1000);
}

static void block_ppoll(void)
{
	ppoll(&(struct pollfd){ .fd = on.pipe[0], .events = POLLIN }, 1, &hour, NULL);
}

static void block_select(void)
{
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(on.pipe[0], &fds);
	select(on.pipe[0] + 1, &fds, NULL, NULL, &(struct timeval){ .tv_sec = HOUR });
}

static void block_epoll(void)
{
	struct epoll_event event;

	epoll_wait(on.epoll, &event, 1, -1);
}

static void block_epoll_timed(void)
{
	struct epoll_event event;

	epoll_pwait2(on.epoll, &event, 1, &hour, NULL);
}

static void block_nanosleep(void)
{
	nanosleep(&hour, NULL);
}

static void block_clock_nanosleep(void)
{
	struct timespec until = later(CLOCK_MONOTONIC);

	errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void block_sem(void)
{
	sem_wait(&on.sem);
}

static void block_sem_timed(void)
{
	struct timespec until = later(CLOCK_REALTIME);

	sem_timedwait(&on.sem, &until);
}

static void block_cond(void)
{
	pthread_mutex_lock(&on.mutex);
	pthread_cond_wait(&on.cond, &on.mutex);
	pthread_mutex_unlock(&on.mutex);
}

static void block_accept(void)
{
	accept(on.listener, NULL, NULL);
}

static void block_recv(void)
{
	char c;

	recv(on.pair[0], &c, 1, 0);
}

static void block_recv_timed(void)
{
	char c;

	recv(on.timed_pair[0], &c, 1, 0);
}

static void block_sigwait(void)
{
	sigwaitinfo(&on.signals, NULL);
}

static void block_sigtimedwait(void)
{
	sigtimedwait(&on.signals, NULL, &hour);
}

static void block_pause(void)
{
	pause();
}

static void block_semop(void)
{
	semop(on.sem_id, &(struct sembuf){ .sem_op = -1 }, 1);
}

static void block_semtimedop(void)
{
	semtimedop(on.sem_id, &(struct sembuf){ .sem_op = -1 }, 1, &hour);
}

static void block_msgrcv(void)
{
	struct {
		long type;
		char text[8];
	} message;

	msgrcv(on.msg_id, &message, sizeof(message.text), 0, 0);
}

static void block_mq(void)
{
	char message[64];

	mq_receive(on.queue, message, sizeof(message), NULL);
}

static void block_flock(void)
{
	int fd = open("lock", O_RDONLY | O_CLOEXEC);

	flock(fd, LOCK_EX);
	close(fd);
}

static const struct {
	const char *name;
	void (*call)(void);
} kinds[] = {
	{ "read", block_read },
	{ "write", block_write },
	{ "eventfd", block_eventfd },
	{ "timerfd", block_timerfd },
	{ "inotify", block_inotify },
	{ "signalfd", block_signalfd },
	{ "poll", block_poll },
	{ "poll, timed", block_poll_timed },
	{ "ppoll", block_ppoll },
	{ "select", block_select },
	{ "epoll_wait", block_epoll },
	{ "epoll_pwait2", block_epoll_timed },
	{ "nanosleep", block_nanosleep },
	{ "clock_nanosleep", block_clock_nanosleep },
	{ "sem_wait", block_sem },
	{ "sem_timedwait", block_sem_timed },
	{ "pthread_cond_wait", block_cond },
	{ "accept", block_accept },
	{ "recv", block_recv },
	{ "recv, timed", block_recv_timed },
	{ "sigwaitinfo", block_sigwait },
	{ "sigtimedwait", block_sigtimedwait },
	{ "pause", block_pause },
	{ "semop", block_semop },
	{ "semtimedop", block_semtimedop },
	{ "msgrcv", block_msgrcv },
	{ "mq_receive", block_mq },
	{ "flock", block_flock },
};

#define N_KINDS (sizeof(kinds) / sizeof(*kinds))

/* What the test has to remove, should the process be killed. */
static void note_ipc(void)
{
	FILE *file = fopen("ipc", "w");

	if (!file)
		abort();
	fprintf(file, "-s %d -q %d\n", on.sem_id, on.msg_id);
	fclose(file);
}

static void make_queues(void)
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 64 };
	char name[32];

	on.sem_id = semget(IPC_PRIVATE, 1, 0600);
	on.msg_id = msgget(IPC_PRIVATE, 0600);
	note_ipc();
	snprintf(name, sizeof(name), "/uspl-case-%d", getpid());
	on.queue = mq_open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600, &attr);
	mq_unlink(name);
}

static void make_sockets(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };

	on.listener = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(on.listener, (struct sockaddr *)&name, sizeof(sa_family_t));
	listen(on.listener, 1);
	socketpair(AF_UNIX, SOCK_STREAM, 0, on.pair);
	socketpair(AF_UNIX, SOCK_STREAM, 0, on.timed_pair);
	setsockopt(on.timed_pair[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){ .tv_sec = HOUR },
		   sizeof(struct timeval));
}

static void make_files(void)
{
	(void)!pipe(on.pipe);
	(void)!pipe2(on.full_pipe, O_NONBLOCK);
	while (write(on.full_pipe[1], &on, sizeof(on)) > 0)
		;
	while (write(on.full_pipe[1], &on, 1) > 0)
		;
	fcntl(on.full_pipe[1], F_SETFL, 0);
	on.event = eventfd(0, 0);
	on.timer = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(on.timer, 0, &(struct itimerspec){ .it_value = hour }, NULL);
	on.watch = inotify_init1(0);
	on.epoll = epoll_create1(0);
	epoll_ctl(on.epoll, EPOLL_CTL_ADD, on.pipe[0], &(struct epoll_event){ .events = EPOLLIN });
	on.locked = open("lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	flock(on.locked, LOCK_EX);
	sigemptyset(&on.signals);
	sigaddset(&on.signals, SIGUSR1);
	on.signal = signalfd(-1, &on.signals, 0);
}

static void *run(void *arg)
{
	size_t kind = (size_t)arg;

	for (;;) {
		errno = 0;
		kinds[kind].call();
		last_errno = errno;
		who_returned = kinds[kind].name;
		returned++;
		pause();
	}
	return NULL;
}

static void start(void)
{
	sigset_t all, before;
	pthread_t thread;

	make_files();
	make_sockets();
	make_queues();
	sem_init(&on.sem, 0, 0);
	pthread_mutex_init(&on.mutex, NULL);
	pthread_cond_init(&on.cond, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, run, (void *)(i % N_KINDS)) != 0)
			abort();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

KEPT const char *text(void);

const char *text(void)
{
	return "old";
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "start")) {
		start();
		snprintf(reply, size, "%d threads, text %s", THREADS, text());
	} else if (returned) {
		snprintf(reply, size, "%d returned, one from %s with '%s'", returned, who_returned,
			 strerror(last_errno));
	} else {
		snprintf(reply, size, "0 returned, text %s", text());
	}
}
