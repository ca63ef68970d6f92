// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - greets; locks its memory, gives its rights away, and maps all that it may when it is
// asked to

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "serve.h"

void greet(char *reply, size_t size);

KEPT void greet(char *reply, size_t size)
{
	snprintf(reply, size, "hello, %s", "world");
}

/* As many mappings as there may be, but for a few. */
static const char *map_all_but(int left)
{
	static char *maps[1 << 17];
	size_t n = 0;

	while (n < sizeof(maps) / sizeof(maps[0])) {
		char *map = mmap(NULL, 4096, n % 2 ? PROT_READ : PROT_NONE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (map == MAP_FAILED)
			break;
		maps[n++] = map;
	}
	if (n == sizeof(maps) / sizeof(maps[0]))
		return "no limit";
	while (left--)
		munmap(maps[--n], 4096);
	return "mapped";
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "lock"))
		snprintf(reply, size, mlockall(MCL_CURRENT | MCL_FUTURE) ? "failed" : "locked");
	else if (!strcmp(request, "drop rights"))
		snprintf(reply, size,
			 setuid(65534) || prctl(PR_SET_DUMPABLE, 1) ? "failed" : "dropped");
	else if (!strncmp(request, "map all but ", 12))
		snprintf(reply, size, "%s", map_all_but(atoi(request + 12)));
	else
		greet(reply, size);
}
