// SPDX-License-Identifier: GPL-3.0-or-later
// read_test.c - bytes read into a buffer: whole files, pipes in pieces, and what can't be read

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "proc/heap.h"
#include "tap.h"

#define PIECES 40
#define PIECE 5000

/* As many bytes as a reader can't have guessed, each piece of another letter. */
static void write_pieces(int fd)
{
	char piece[PIECE];

	for (int i = 0; i < PIECES; i++) {
		memset(piece, 'a' + i % 26, sizeof(piece));
		if (file_write_all(fd, piece, sizeof(piece)) < 0)
			_exit(1);
		usleep(100);
	}
	_exit(0);
}

static bool holds_pieces(const struct buf *buf, size_t from)
{
	if (buf->len != from + (size_t)PIECES * PIECE || buf->data[buf->len])
		return false;
	for (size_t i = 0; i < buf->len - from; i++)
		if (buf->data[from + i] != 'a' + (int)(i / PIECE) % 26)
			return false;
	return true;
}

static void test_pipe(void)
{
	auto_buf struct buf buf = { 0 };
	struct uspl_err err = { 0 };
	int fds[2], status = 1;
	pid_t writer;

	if (pipe(fds) < 0)
		return;
	writer = fork();
	if (writer == 0)
		write_pieces(fds[1]);
	close(fds[1]);
	buf_addstr(&buf, "before");
	ok(file_read_fd(fds[0], "a pipe", &buf, &err) == 0 && holds_pieces(&buf, strlen("before")),
	   "a pipe is read behind what is there, in whatever pieces it comes");
	close(fds[0]);
	ok(waitpid(writer, &status, 0) == writer && status == 0, "to its end");
}

static void test_files(void)
{
	auto_buf struct buf buf = { 0 }, none = { 0 };
	auto_close int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct uspl_err err = { 0 };

	ok(file_read("/dev/null", &none, &err) == 0 && none.len == 0 && *buf_str(&none) == '\0',
	   "an empty file gives nothing");
	ok(file_read("/proc/self/maps", &buf, &err) == 0 && strstr(buf_str(&buf), "[stack]"),
	   "a file of /proc, which says that it has no bytes, is read");
	ok(buf_add_read(&buf, folder) == -1 && errno == EISDIR && !buf.oom,
	   "what can't be read says why");
	ok(file_read_fd(folder, "the folder", &buf, &err) == -USPL_E_SYSTEM &&
		   strstr(err.msg, "cannot read 'the folder'"),
	   "and with its name");
}

/* Pages that the kernel has given to a block of malloc's before it is touched. */
static void test_heap(void)
{
	const size_t size = 512 * 1024;
	char *block;

	heap_populate();
	block = malloc(size);
	ok(block && block < (char *)sbrk(0), "a block of half a megabyte lies in the heap");
	if (block)
		memset(block, 1, size);
	free(block);
	heap_populate();
	block = malloc(size);
	ok(block && block < (char *)sbrk(0), "and one does after a second time");
	free(block);
}

int main(void)
{
	test_pipe();
	test_files();
	test_heap();
	return tap_done();
}
