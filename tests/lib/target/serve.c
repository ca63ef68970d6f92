// SPDX-License-Identifier: GPL-3.0-or-later
// serve.c - the loop of the programs that the cases patch

#include "serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No target outlives its test by more than this, whatever becomes of the test. */
#define LIFETIME_SECONDS 300

void next_line(char line[LINE_SIZE])
{
	if (!fgets(line, LINE_SIZE, stdin))
		exit(0);
	line[strcspn(line, "\n")] = '\0';
}

void serve(void)
{
	char request[LINE_SIZE], reply[LINE_SIZE];
	unsigned long answered = 0;

	alarm(LIFETIME_SECONDS);
	for (;;) {
		next_line(request);
		if (!strcmp(request, "count")) {
			printf("%lu\n", answered);
		} else {
			reply[0] = '\0';
			answer(request, reply, sizeof(reply));
			puts(reply);
			answered++;
		}
		fflush(stdout);
	}
}
