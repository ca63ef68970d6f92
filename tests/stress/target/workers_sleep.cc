// SPDX-License-Identifier: GPL-3.0-or-later
// workers_sleep.cc - calls that wait: none ends early, by EINTR or by the clock, since no signal is for these threads

#include "stress.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 40

/* The call has to have taken its time; epoll and poll count in whole milliseconds of a coarse clock. */
static void expect_time(const char *call, int64_t since)
{
	if (now_ns() - since < (WAIT_MS - 2) * 1000000ll)
		wrong("%s ended after %ld us", call, static_cast<long>((now_ns() - since) / 1000));
}

static struct timespec deadline(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	at.tv_nsec += WAIT_MS * 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_nsec -= 1000000000;
		at.tv_sec++;
	}
	return at;
}

static void wait_epoll(void)
{
	static __thread int fd;
	struct epoll_event event;

	if (!fd)
		fd = epoll_create1(0);
	expect_errno("epoll_wait", epoll_wait(fd, &event, 1, WAIT_MS), 0);
}

static void wait_poll(void)
{
	expect_errno("poll", poll(NULL, 0, WAIT_MS), 0);
}

static void wait_sigtimedwait(void)
{
	struct timespec time = { 0, WAIT_MS * 1000000 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	expect_errno("sigtimedwait", sigtimedwait(&set, NULL, &time), EAGAIN);
}

static void wait_recv(void)
{
	static __thread int fds[2];
	struct timeval time = { 0, WAIT_MS * 1000 };
	char byte;

	if (!fds[0]) {
		socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
		setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	}
	expect_errno("recv", recv(fds[0], &byte, 1, 0), EAGAIN);
}

static void wait_sem(void)
{
	static __thread sem_t sem;
	struct timespec at = deadline(CLOCK_REALTIME);

	expect_errno("sem_timedwait", sem_timedwait(&sem, &at), ETIMEDOUT);
}

static void wait_condition(void)
{
	static __thread pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static __thread pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec at = deadline(CLOCK_REALTIME);

	pthread_mutex_lock(&lock);
	while (pthread_cond_timedwait(&condition, &lock, &at) == 0)
		;
	pthread_mutex_unlock(&lock);
}

static void wait_nap(void)
{
	nap_us(WAIT_MS * 1000);
}

static void sleep_on(struct worker *self, void (*wait)(void))
{
	for (;;) {
		int64_t since = now_ns();

		wait();
		if (!was_disturbed())
			expect_time(self->name, since);
		expect_version(self->name, both());
		self->done = self->done + 1;
	}
}

#define SLEEPER(name)                                                                              \
	static void run_##name(struct worker *self)                                                \
	{                                                                                          \
		sleep_on(self, wait_##name);                                                       \
	}
SLEEPER(epoll)
SLEEPER(poll)
SLEEPER(sigtimedwait)
SLEEPER(recv)
SLEEPER(sem)
SLEEPER(condition)
SLEEPER(nap)

/* One writes what the other reads: in order, and none is lost. */
static int tokens[2];

static void run_writer(struct worker *self)
{
	for (uint32_t token = 0;; token++) {
		while (!tokens[1])
			nap_us(1000);
		if (write(tokens[1], &token, sizeof(token)) != sizeof(token))
			expect_errno("write", -1, 0);
		expect_version("a writer", both());
		self->done = self->done + 1;
		nap_us(5000);
	}
}

static void run_reader(struct worker *self)
{
	int fds[2];

	if (pipe(fds) != 0)
		wrong("no pipe");
	tokens[0] = fds[0];
	__atomic_store_n(&tokens[1], fds[1], __ATOMIC_SEQ_CST);
	for (uint32_t token, expected = 0;; expected++) {
		if (!expect_errno("read", read(fds[0], &token, sizeof(token)), 0))
			expected--;
		else if (token != expected)
			wrong("read %u instead of %u", token, expected);
		self->done = self->done + 1;
	}
}

WORKERS(sleep_workers) = { { "epoll", run_epoll, 0 },
			   { "poll", run_poll, 0 },
			   { "sigtimedwait", run_sigtimedwait, 0 },
			   { "recv", run_recv, 0 },
			   { "sem", run_sem, 0 },
			   { "condition", run_condition, 0 },
			   { "nap", run_nap, 0 },
			   { "writer", run_writer, 0 },
			   { "reader", run_reader, 0 },
			   {} };
