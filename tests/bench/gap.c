// SPDX-License-Identifier: GPL-3.0-or-later
// gap.c - runs a command and prints how long the target's busy thread stood still meanwhile, in ns:
// gap FILE COMMAND...
//
// The command's output goes to standard error; if it fails, so does gap.

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/gap.h"

static struct gap *gap_map(const char *path)
{
	int fd = open(path, O_RDWR);
	struct gap *gap;

	if (fd < 0)
		err(1, "cannot open '%s'", path);
	gap = mmap(NULL, sizeof(*gap), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (gap == MAP_FAILED)
		err(1, "cannot map '%s'", path);
	close(fd);
	return gap;
}

int main(int argc, char **argv)
{
	struct gap *gap;
	int status;
	pid_t pid;

	if (argc < 3)
		errx(2, "usage: gap FILE COMMAND...");
	gap = gap_map(argv[1]);
	gap->longest_ns = 0;
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(argv[2], argv + 2);
		err(127, "cannot run '%s'", argv[2]);
	}
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	printf("%" PRIu64 "\n", gap->longest_ns);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
