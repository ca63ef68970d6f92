// SPDX-License-Identifier: GPL-3.0-or-later
// top.c - readings of what runs in a process now, one after another

#include "trace/top/top.h"

#include <poll.h>
#include <time.h>

#include "base/cancel.h"
#include "base/clock.h"

#define SHARE 100 /* a reading takes at most so much of the time: one part of these */
/* ^C may come between the question whether it has come and the wait: that is asked this often. */
#define ASK_NS 100000000ll

enum top_news top_wait(const struct top *top, int keys_fd, int64_t until_ns)
{
	struct pollfd fds[] = { { .fd = top->end_fd, .events = POLLIN },
				{ .fd = keys_fd, .events = POLLIN } };

	for (;;) {
		int64_t left = until_ns - clock_now_ns();
		struct timespec limit = { .tv_nsec = left < ASK_NS ? left : ASK_NS };
		int n;

		if (cancel_requested())
			return TOP_OVER;
		if (left <= 0)
			return TOP_DUE;
		n = ppoll(fds, ARRAY_SIZE(fds), &limit, NULL);
		if (n > 0 && fds[0].revents)
			return TOP_OVER;
		/* A signal may say that the terminal has another size. */
		if (n > 0 || (n < 0 && keys_fd >= 0))
			return TOP_KEYS;
	}
}

bool top_has_ended(const struct top *top)
{
	struct pollfd end = { .fd = top->end_fd, .events = POLLIN };

	return poll(&end, 1, 0) > 0;
}

static int64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int top_read(struct top *top, struct uspl_err *err)
{
	int64_t begin = cpu_ns(), spent, pause;
	int rc = top_rows_read(&top->rows, err);

	if (rc)
		return rc;
	/* What came behind the reading before counts as well. */
	spent = cpu_ns() - begin;
	if (top->cpu_ns && begin - top->cpu_ns > spent)
		spent = begin - top->cpu_ns;
	top->cpu_ns = begin;
	pause = spent * SHARE;
	top->next_ns = clock_now_ns() + (pause > top->interval_ns ? pause : top->interval_ns);
	return 0;
}
