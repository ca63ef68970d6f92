// SPDX-License-Identifier: GPL-3.0-or-later
// waits.c - system calls with a time-out, for which nothing ever comes

#define _GNU_SOURCE
#include "waits.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	int epoll, pipe[2], sem;
	aio_context_t aio;
	sigset_t signals;
	unsigned int futex;
} on;

static const struct timespec whole = { WAIT_SECONDS, 0 };
static struct epoll_event event;

static int wait_epoll(void)
{
	return epoll_wait(on.epoll, &event, 1, WAIT_SECONDS * 1000);
}

static int wait_epoll_pwait(void)
{
	return epoll_pwait(on.epoll, &event, 1, WAIT_SECONDS * 1000, &on.signals);
}

static int wait_epoll_pwait2(void)
{
	return epoll_pwait2(on.epoll, &event, 1, &whole, NULL);
}

static int wait_semtimedop(void)
{
	struct sembuf down = { .sem_op = -1 };

	return semtimedop(on.sem, &down, 1, &whole) == -1 && errno == EAGAIN ? 0 : -1;
}

static int wait_sigtimedwait(void)
{
	return sigtimedwait(&on.signals, NULL, &whole) == -1 && errno == EAGAIN ? 0 : -1;
}

static int wait_io_getevents(void)
{
	struct timespec timeout = whole;
	struct io_event done;

	return (int)syscall(SYS_io_getevents, on.aio, 1, 1, &done, &timeout);
}

static int wait_poll(void)
{
	struct pollfd fd = { on.pipe[0], POLLIN, 0 };

	return poll(&fd, 1, WAIT_SECONDS * 1000);
}

static int wait_ppoll(void)
{
	struct pollfd fd = { on.pipe[0], POLLIN, 0 };

	return ppoll(&fd, 1, &whole, NULL);
}

static int wait_select(void)
{
	struct timeval timeout = { WAIT_SECONDS, 0 };

	return select(0, NULL, NULL, NULL, &timeout);
}

static int wait_nanosleep(void)
{
	return nanosleep(&whole, NULL);
}

static int wait_futex(void)
{
	return syscall(SYS_futex, &on.futex, FUTEX_WAIT, 0, &whole, NULL, 0) == -1 &&
			       errno == ETIMEDOUT
		       ? 0
		       : -1;
}

/* The register of the time-out is read behind the call. */
static int wait_used_again(void)
{
	register long timeout __asm__("r10") = WAIT_SECONDS * 1000;
	register long signals __asm__("r8") = 0;
	long result = SYS_epoll_pwait;

	__asm__ volatile("syscall"
			 : "+a"(result), "+r"(timeout)
			 : "D"(on.epoll), "S"(&event), "d"(1), "r"(signals)
			 : "rcx", "r11", "memory");
	return result == 0 && timeout == WAIT_SECONDS * 1000 ? 0 : -1;
}

void waits_make(void)
{
	on.epoll = epoll_create1(EPOLL_CLOEXEC);
	(void)!pipe(on.pipe);
	on.sem = semget(IPC_PRIVATE, 1, 0600);
	sigemptyset(&on.signals);
	sigaddset(&on.signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &on.signals, NULL);
	syscall(SYS_io_setup, 1, &on.aio);
}

const struct wait waits[] = {
	{ "epoll_wait", wait_epoll, 0 },
	{ "epoll_pwait", wait_epoll_pwait, 0 },
	{ "epoll_pwait2", wait_epoll_pwait2, 0 },
	{ "semtimedop", wait_semtimedop, 0 },
	{ "sigtimedwait", wait_sigtimedwait, 0 },
	{ "io_getevents", wait_io_getevents, 0 },
	{ "poll", wait_poll, 0 },
	{ "ppoll", wait_ppoll, 0 },
	{ "select", wait_select, 0 },
	{ "nanosleep", wait_nanosleep, 0 },
	{ "futex", wait_futex, 0 },
	{ "epoll_pwait, its register used again", wait_used_again, 1 },
	{ NULL, NULL, 0 },
};
