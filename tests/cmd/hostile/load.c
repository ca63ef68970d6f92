// SPDX-License-Identifier: GPL-3.0-or-later
// load.c - a process with a library: load LIBRARY
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc != 2 || !dlopen(argv[1], RTLD_NOW))
		return 2;
	printf("ready\n");
	fflush(stdout);
	pause();
	return 0;
}
