// SPDX-License-Identifier: GPL-3.0-or-later
// main.c - starts the loop with a standard input for which it never sleeps

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "serve.h"

#define TURNS 20000

static ssize_t read_awake(void *cookie, char *buf, size_t size)
{
	ssize_t got;

	(void)cookie;
	while ((got = read(STDIN_FILENO, buf, size)) < 0 && errno == EAGAIN)
		for (volatile int turn = 0; turn < TURNS; turn++)
			;
	return got;
}

int main(void)
{
	const cookie_io_functions_t awake = { .read = read_awake };

	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	stdin = fopencookie(NULL, "r", awake);
	serve();
	return 0;
}
