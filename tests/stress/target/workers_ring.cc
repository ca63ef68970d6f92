// SPDX-License-Identifier: GPL-3.0-or-later
// workers_ring.cc - io_uring, where the kernel has it and allows it (io_uring_setup(2), io_uring_enter(2))

#include "stress.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ring {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

static void *map(int fd, size_t len, off_t what)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, what);
}

static bool open_ring(struct ring *ring)
{
	struct io_uring_params params = {};
	char *sq, *cq;

	ring->fd = static_cast<int>(syscall(SYS_io_uring_setup, 8, &params));
	if (ring->fd < 0)
		return false;
	sq = static_cast<char *>(map(ring->fd, params.sq_off.array + 8 * sizeof(unsigned int),
				     IORING_OFF_SQ_RING));
	cq = static_cast<char *>(map(
		ring->fd, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
		IORING_OFF_CQ_RING));
	ring->sqes = static_cast<struct io_uring_sqe *>(
		map(ring->fd, 8 * sizeof(struct io_uring_sqe), IORING_OFF_SQES));
	if (sq == MAP_FAILED || cq == MAP_FAILED || ring->sqes == MAP_FAILED)
		return false;
	ring->sq_tail = reinterpret_cast<unsigned int *>(sq + params.sq_off.tail);
	ring->sq_mask = reinterpret_cast<unsigned int *>(sq + params.sq_off.ring_mask);
	ring->sq_array = reinterpret_cast<unsigned int *>(sq + params.sq_off.array);
	ring->cq_head = reinterpret_cast<unsigned int *>(cq + params.cq_off.head);
	ring->cq_tail = reinterpret_cast<unsigned int *>(cq + params.cq_off.tail);
	ring->cq_mask = reinterpret_cast<unsigned int *>(cq + params.cq_off.ring_mask);
	ring->cqes = reinterpret_cast<struct io_uring_cqe *>(cq + params.cq_off.cqes);
	return true;
}

/* Asks for a time-out of 20 ms; the wait is a call of its own, so that it may be made again. */
static void ask_and_wait(struct ring *ring, uint64_t id)
{
	static __thread struct __kernel_timespec time;
	unsigned int tail = *ring->sq_tail, place = tail & *ring->sq_mask, head = *ring->cq_head;
	struct io_uring_sqe *sqe = &ring->sqes[place];
	const struct io_uring_cqe *cqe = &ring->cqes[head & *ring->cq_mask];
	int64_t since = now_ns();

	time.tv_nsec = 20000000;
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_TIMEOUT;
	sqe->addr = reinterpret_cast<uintptr_t>(&time);
	sqe->len = 1;
	sqe->user_data = id;
	ring->sq_array[place] = place;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
	expect_errno("io_uring_enter", syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0), 0);
	while (__atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE) == head)
		expect_errno("io_uring_enter",
			     syscall(SYS_io_uring_enter, ring->fd, 0, 1, IORING_ENTER_GETEVENTS,
				     NULL, 0),
			     0);
	if (cqe->user_data != id || cqe->res != -ETIME)
		wrong("io_uring: %lu came with %d instead of %lu",
		      static_cast<unsigned long>(cqe->user_data), cqe->res,
		      static_cast<unsigned long>(id));
	if (now_ns() - since < 19000000)
		wrong("io_uring: the time-out came early");
	__atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
}

static void run_ring(struct worker *self)
{
	struct ring ring = {};
	bool has_ring = open_ring(&ring);

	for (uint64_t id = 1;; id++) {
		if (has_ring)
			ask_and_wait(&ring, id);
		else
			nap_us(20000);
		expect_version("beside io_uring", both());
		self->done = self->done + 1;
	}
}

WORKERS(ring_workers) = { { "ring", run_ring, 0 }, {} };
