// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * cut.c - a process whose library is cut short and written anew all the time: cut LIBRARY
 *
 * Its own pages were touched before, or are private copies; who maps the file gets SIGBUS.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct stat st;
	char *all;
	int fd;

	if (argc != 2 || !dlopen(argv[1], RTLD_NOW))
		return 2;
	fd = open(argv[1], O_RDWR);
	if (fd < 0 || fstat(fd, &st) || !(all = malloc((size_t)st.st_size)) ||
	    pread(fd, all, (size_t)st.st_size, 0) != st.st_size)
		return 3;
	printf("ready\n");
	fflush(stdout);
	for (;;) {
		if (ftruncate(fd, 4096) || pwrite(fd, all, (size_t)st.st_size, 0) != st.st_size)
			return 4;
	}
}
