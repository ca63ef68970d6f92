// SPDX-License-Identifier: GPL-3.0-or-later
// calls_queues.c - blocking calls on locks, semaphores, message queues, and the queues of the
// kernel

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"

struct message {
	long type;
	char text[8];
};

static struct {
	int sem_id, msg_id, full_msg_id, uring;
	aio_context_t aio;
	mqd_t queue, full_queue;
	sem_t sem;
	pthread_mutex_t mutex, locked;
	pthread_rwlock_t rwlock;
	pthread_cond_t cond;
	pthread_barrier_t barrier;
	uint32_t futex;
} on;

/* An hour from now. */
static struct timespec later(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += HOUR;
	return ts;
}

static void block_sem(void)
{
	sem_wait(&on.sem);
}

static void block_sem_timed(void)
{
	struct timespec until = later();

	sem_timedwait(&on.sem, &until);
}

static void block_mutex(void)
{
	pthread_mutex_lock(&on.locked);
}

static void block_mutex_timed(void)
{
	struct timespec until = later();

	errno = pthread_mutex_timedlock(&on.locked, &until);
}

static void block_rwlock(void)
{
	pthread_rwlock_rdlock(&on.rwlock);
}

static void block_cond(void)
{
	pthread_mutex_lock(&on.mutex);
	pthread_cond_wait(&on.cond, &on.mutex);
	pthread_mutex_unlock(&on.mutex);
}

static void block_cond_timed(void)
{
	struct timespec until = later();

	pthread_mutex_lock(&on.mutex);
	errno = pthread_cond_timedwait(&on.cond, &on.mutex, &until);
	pthread_mutex_unlock(&on.mutex);
}

static void block_barrier(void)
{
	pthread_barrier_wait(&on.barrier);
}

static void block_futex(void)
{
	syscall(SYS_futex, &on.futex, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void block_futex_timed(void)
{
	syscall(SYS_futex, &on.futex, FUTEX_WAIT, 0, &hour, NULL, 0);
}

static void block_futex_waitv(void)
{
	struct futex_waitv wait = { .uaddr = (uintptr_t)&on.futex, .flags = FUTEX_32 };

	syscall(SYS_futex_waitv, &wait, 1, 0, NULL, 0);
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
	struct message message;

	msgrcv(on.msg_id, &message, sizeof(message.text), 0, 0);
}

static void block_msgsnd(void)
{
	struct message message = { .type = 1 };

	msgsnd(on.full_msg_id, &message, sizeof(message.text), 0);
}

static void block_mq(void)
{
	char message[64];

	mq_receive(on.queue, message, sizeof(message), NULL);
}

static void block_mq_timed(void)
{
	struct timespec until = later();
	char message[64];

	mq_timedreceive(on.queue, message, sizeof(message), NULL, &until);
}

static void block_mq_send(void)
{
	mq_send(on.full_queue, "x", 1, 0);
}

static void block_io_getevents(void)
{
	struct io_event event;

	syscall(SYS_io_getevents, on.aio, 1, 1, &event, NULL);
}

static void block_io_getevents_timed(void)
{
	struct io_event event;
	struct timespec timeout = hour;

	syscall(SYS_io_getevents, on.aio, 1, 1, &event, &timeout);
}

static void block_io_uring(void)
{
	syscall(SYS_io_uring_enter, on.uring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

/* What the test has to remove, should the process be killed. */
static void note_ipc(void)
{
	FILE *file = fopen("ipc", "w");

	if (!file)
		abort();
	fprintf(file, "-s %d -q %d -q %d\n", on.sem_id, on.msg_id, on.full_msg_id);
	fclose(file);
}

static mqd_t open_queue(const char *what)
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 64 };
	char name[32];
	mqd_t queue;

	snprintf(name, sizeof(name), "/uspl-%s-%d", what, getpid());
	queue = mq_open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600, &attr);
	mq_unlink(name);
	return queue;
}

static void make_locks(void)
{
	sem_init(&on.sem, 0, 0);
	pthread_mutex_init(&on.mutex, NULL);
	pthread_mutex_init(&on.locked, NULL);
	pthread_mutex_lock(&on.locked);
	pthread_rwlock_init(&on.rwlock, NULL);
	pthread_rwlock_wrlock(&on.rwlock);
	pthread_cond_init(&on.cond, NULL);
	pthread_barrier_init(&on.barrier, NULL, 1000);
}

void make_queues(void)
{
	struct message message = { .type = 1 };
	struct io_uring_params params = { 0 };

	make_locks();
	on.sem_id = semget(IPC_PRIVATE, 1, 0600);
	on.msg_id = msgget(IPC_PRIVATE, 0600);
	on.full_msg_id = msgget(IPC_PRIVATE, 0600);
	note_ipc();
	while (msgsnd(on.full_msg_id, &message, sizeof(message.text), IPC_NOWAIT) == 0)
		;
	on.queue = open_queue("empty");
	on.full_queue = open_queue("full");
	mq_send(on.full_queue, "x", 1, 0);
	syscall(SYS_io_setup, 1, &on.aio);
	on.uring = (int)syscall(SYS_io_uring_setup, 1, &params);
}

const struct call queue_calls[] = {
	{ "sem_wait", block_sem, 0 },
	{ "sem_timedwait", block_sem_timed, 0 },
	{ "pthread_mutex_lock", block_mutex, 0 },
	{ "pthread_mutex_timedlock", block_mutex_timed, 0 },
	{ "pthread_rwlock_rdlock", block_rwlock, 0 },
	{ "pthread_cond_wait", block_cond, 0 },
	{ "pthread_cond_timedwait", block_cond_timed, 0 },
	{ "pthread_barrier_wait", block_barrier, 0 },
	{ "futex", block_futex, 0 },
	{ "futex, timed", block_futex_timed, 0 },
	{ "futex_waitv", block_futex_waitv, 0 },
	{ "semop", block_semop, 0 },
	{ "semtimedop", block_semtimedop, 0 },
	{ "msgrcv", block_msgrcv, 0 },
	{ "msgsnd", block_msgsnd, 0 },
	{ "mq_receive", block_mq, 0 },
	{ "mq_timedreceive", block_mq_timed, 0 },
	{ "mq_send", block_mq_send, 0 },
	{ "io_getevents", block_io_getevents, 0 },
	{ "io_getevents, timed", block_io_getevents_timed, 0 },
	{ "io_uring_enter", block_io_uring, 0 },
	{ NULL, NULL, 0 },
};
