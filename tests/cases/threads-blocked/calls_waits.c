// SPDX-License-Identifier: GPL-3.0-or-later
// calls_waits.c - blocking calls that wait for time, events, signals and children

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"

static struct {
	int pipe[2], epoll;
	pid_t child;
	sigset_t signals;
} on;

const struct timespec hour = { .tv_sec = HOUR };
const struct timeval hour_tv = { .tv_sec = HOUR };

static struct epoll_event event;

static struct pollfd never(void)
{
	return (struct pollfd){ .fd = on.pipe[0], .events = POLLIN };
}

static void block_poll(void)
{
	struct pollfd fd = never();

	poll(&fd, 1, -1);
}

static void block_poll_timed(void)
{
	struct pollfd fd = never();

	poll(&fd, 1, HOUR * 1000);
}

static void block_poll_nothing(void)
{
	poll(NULL, 0, HOUR * 1000);
}

static void block_ppoll(void)
{
	struct pollfd fd = never();

	ppoll(&fd, 1, &hour, NULL);
}

static void block_select(void)
{
	struct timeval timeout = hour_tv;
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(on.pipe[0], &fds);
	select(on.pipe[0] + 1, &fds, NULL, NULL, &timeout);
}

static void block_pselect(void)
{
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(on.pipe[0], &fds);
	pselect(on.pipe[0] + 1, &fds, NULL, NULL, &hour, &on.signals);
}

static void block_epoll(void)
{
	epoll_wait(on.epoll, &event, 1, -1);
}

static void block_epoll_timed(void)
{
	epoll_wait(on.epoll, &event, 1, HOUR * 1000);
}

static void block_epoll_pwait(void)
{
	epoll_pwait(on.epoll, &event, 1, HOUR * 1000, &on.signals);
}

static void block_epoll_pwait2(void)
{
	epoll_pwait2(on.epoll, &event, 1, &hour, NULL);
}

static void block_nanosleep(void)
{
	nanosleep(&hour, NULL);
}

static void block_clock_nanosleep(void)
{
	errno = clock_nanosleep(CLOCK_BOOTTIME, 0, &hour, NULL);
}

static void block_clock_nanosleep_until(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += HOUR;
	errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void block_sigwait(void)
{
	sigwaitinfo(&on.signals, NULL);
}

static void block_sigtimedwait(void)
{
	sigtimedwait(&on.signals, NULL, &hour);
}

static void block_sigsuspend(void)
{
	sigset_t all;

	sigfillset(&all);
	sigsuspend(&all);
}

static void block_pause(void)
{
	pause();
}

static void block_waitpid(void)
{
	waitpid(on.child, NULL, 0);
}

static void block_waitid(void)
{
	siginfo_t info;

	waitid(P_PID, (id_t)on.child, &info, WEXITED);
}

void make_waits(void)
{
	(void)!pipe(on.pipe);
	on.epoll = epoll_create1(0);
	epoll_ctl(on.epoll, EPOLL_CTL_ADD, on.pipe[0], &(struct epoll_event){ .events = EPOLLIN });
	sigemptyset(&on.signals);
	sigaddset(&on.signals, SIGUSR1);
	on.child = fork();
	if (on.child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pause();
	_exit(0);
}

const struct call wait_calls[] = {
	{ "poll", block_poll, 0 },
	{ "poll, timed", block_poll_timed, 0 },
	{ "poll of nothing", block_poll_nothing, 0 },
	{ "ppoll", block_ppoll, 0 },
	{ "select", block_select, 0 },
	{ "pselect", block_pselect, 0 },
	{ "epoll_wait", block_epoll, 0 },
	{ "epoll_wait, timed", block_epoll_timed, 0 },
	{ "epoll_pwait", block_epoll_pwait, 0 },
	{ "epoll_pwait2", block_epoll_pwait2, 0 },
	{ "nanosleep", block_nanosleep, 0 },
	{ "clock_nanosleep", block_clock_nanosleep, 0 },
	{ "clock_nanosleep, absolute", block_clock_nanosleep_until, 0 },
	{ "sigwaitinfo", block_sigwait, 0 },
	{ "sigtimedwait", block_sigtimedwait, 0 },
	{ "sigsuspend", block_sigsuspend, 0 },
	{ "pause", block_pause, 0 },
	{ "waitpid", block_waitpid, 0 },
	{ "waitid", block_waitid, 0 },
	{ NULL, NULL, 0 },
};
