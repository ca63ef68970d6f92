// SPDX-License-Identifier: GPL-3.0-or-later
// private_pages_test.c - which pages a write wouldn't make the kernel copy

#include "proc/private_pages.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tap.h"

#define PAGES 300 /* more than are asked about at once */

/* Which of the pages are ours, as many letters. */
static const char *owned(const struct proc *proc, const uint8_t *at)
{
	static char text[PAGES + 1];
	bool own[PAGES];

	private_pages(proc, (uintptr_t)at, PAGES, own);
	for (size_t i = 0; i < PAGES; i++)
		text[i] = own[i] ? '1' : '0';
	return text;
}

/* True if those alone of the first 3, and of the last one, are ours. */
static bool are(const char *text, const char *wanted)
{
	return !strncmp(text, wanted, 3) && text[PAGES - 1] == wanted[3] &&
	       strspn(text + 3, "0") >= PAGES - 4;
}

/* Of the same pages, of which the second and the third are ours. */
static void test_run(const struct proc *proc, const uint8_t *at)
{
	taddr first = (uintptr_t)at;
	struct private_run run = { 0 };

	ok(!*private_page(&run, proc, first + 5, 2) &&
		   *private_page(&run, proc, first + PAGE + 5, PAGES) && run.from == first &&
		   run.n == 2,
	   "two pages at once, the second one asked for next");
	ok(*private_page(&run, proc, first + 2 * PAGE, SIZE_MAX) && run.from == first + 2 * PAGE &&
		   run.n == PRIVATE_RUN_MAX,
	   "one behind them, with as many as there is room for");
	ok(*private_page(&run, proc, first + PAGE, 1) && run.from == first + PAGE,
	   "one in front of them");
}

static void test_file(const struct proc *proc, int fd)
{
	uint8_t *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	const char *text;
	pid_t child;

	if (at == MAP_FAILED) {
		ok(false, "mmap");
		return;
	}
	ok(are(owned(proc, at), "0000"), "pages that nobody has touched");
	at[PAGE] = at[2 * PAGE] = at[(PAGES - 1) * PAGE] = 1;
	ok(!*(volatile uint8_t *)at && are(owned(proc, at), "0111"),
	   "a page that was read, and three that were written to");
	test_run(proc, at);
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	ok(child > 0 && are(owned(proc, at), "0000"), "the same while a child has them, too");
	at[PAGE] = 2;
	text = owned(proc, at);
	ok(are(text, "0100"), "one of them, written to since");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(at, PAGES * PAGE);
}

int main(void)
{
	int fd = memfd_create("own", MFD_CLOEXEC);
	struct uspl_err err = { 0 };
	struct proc *proc = NULL;

	ok(proc_open_readonly(getpid(), &proc, &err) == 0, "this process (%s)", err.msg);
	ok(fd >= 0 && ftruncate(fd, PAGES * PAGE) == 0, "a file");
	if (proc)
		test_file(proc, fd);
	proc_free(proc);
	close(fd);
	return tap_done();
}
