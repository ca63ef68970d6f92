// SPDX-License-Identifier: GPL-3.0-or-later
// calls_files.c - blocking calls on pipes, files, terminals and what is like them

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"

static struct {
	int pipe[2], full_pipe[2], big_pipe[2], event, full_event, timer, watch, signal;
	int locked, tty, text;
} on;

static char byte;

static void block_read(void)
{
	(void)!read(on.pipe[0], &byte, 1);
}

static void block_readv(void)
{
	(void)!readv(on.pipe[0], &(struct iovec){ &byte, 1 }, 1);
}

static void block_write(void)
{
	(void)!write(on.full_pipe[1], "x", 1);
}

static void block_writev(void)
{
	(void)!writev(on.full_pipe[1], &(struct iovec){ &byte, 1 }, 1);
}

/* Some of it fits into the pipe. */
static void block_partial_write(void)
{
	static char much[1 << 18];

	(void)!write(on.big_pipe[1], much, sizeof(much));
}

static void block_eventfd(void)
{
	eventfd_t value;

	eventfd_read(on.event, &value);
}

static void block_eventfd_write(void)
{
	eventfd_write(on.full_event, 1);
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

static void block_tty(void)
{
	(void)!read(on.tty, &byte, 1);
}

static void block_open_fifo(void)
{
	close(open("fifo", O_RDONLY | O_CLOEXEC));
}

static void block_flock(void)
{
	int fd = open("lock", O_RDONLY | O_CLOEXEC);

	flock(fd, LOCK_EX);
	close(fd);
}

static void block_fcntl_lock(void)
{
	int fd = open("lock", O_RDWR | O_CLOEXEC);

	fcntl(fd, F_OFD_SETLKW, &(struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET });
	close(fd);
}

static void block_splice(void)
{
	splice(on.pipe[0], NULL, on.full_pipe[1], NULL, 1, 0);
}

static void block_tee(void)
{
	tee(on.pipe[0], on.full_pipe[1], 1, 0);
}

static void block_vmsplice(void)
{
	vmsplice(on.full_pipe[1], &(struct iovec){ &byte, 1 }, 1, 0);
}

static void block_sendfile(void)
{
	off_t offset = 0;

	sendfile(on.full_pipe[1], on.text, &offset, 1);
}

static void fill(int fd)
{
	static char zeros[4096];

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	while (write(fd, zeros, 1) > 0)
		;
	fcntl(fd, F_SETFL, 0);
}

static int open_tty(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	grantpt(master);
	unlockpt(master);
	return open(ptsname(master), O_RDWR | O_NOCTTY);
}

void make_files(void)
{
	sigset_t signals;

	(void)!pipe(on.pipe);
	(void)!pipe(on.full_pipe);
	(void)!pipe(on.big_pipe);
	fill(on.full_pipe[1]);
	on.event = eventfd(0, 0);
	on.full_event = eventfd(0, 0);
	eventfd_write(on.full_event, UINT64_MAX - 1);
	on.timer = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(on.timer, 0, &(struct itimerspec){ .it_value = hour }, NULL);
	on.watch = inotify_init1(0);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	on.signal = signalfd(-1, &signals, 0);
	on.locked = open("lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	flock(on.locked, LOCK_EX);
	fcntl(on.locked, F_OFD_SETLK, &(struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET });
	on.text = open("Makefile", O_RDONLY | O_CLOEXEC);
	on.tty = open_tty();
	mkfifo("fifo", 0600);
}

const struct call file_calls[] = {
	{ "read", block_read, 0 },
	{ "readv", block_readv, 0 },
	{ "write", block_write, 0 },
	{ "writev", block_writev, 0 },
	{ "write, begun", block_partial_write, 1 },
	{ "eventfd read", block_eventfd, 0 },
	{ "eventfd write", block_eventfd_write, 0 },
	{ "timerfd", block_timerfd, 0 },
	{ "inotify", block_inotify, 0 },
	{ "signalfd", block_signalfd, 0 },
	{ "terminal", block_tty, 0 },
	{ "open of a fifo", block_open_fifo, 0 },
	{ "flock", block_flock, 0 },
	{ "fcntl lock", block_fcntl_lock, 0 },
	{ "splice", block_splice, 0 },
	{ "tee", block_tee, 0 },
	{ "vmsplice", block_vmsplice, 0 },
	{ "sendfile", block_sendfile, 0 },
	{ NULL, NULL, 0 },
};
