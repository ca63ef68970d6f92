// SPDX-License-Identifier: GPL-3.0-or-later
// resolve.c - sample: prints where its symbols are by its own view, then waits; resolve_test.c must
// find the same

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOW(symbol) printf("%s %lx\n", #symbol, (unsigned long)(symbol))

extern char **environ;
int global_variable = 3;
static int static_variable = 4;
__thread int thread_variable = 5;
int in_library(int n);
int interposed(int n);
int never_defined(void) __attribute__((weak));

static __attribute__((noinline)) int static_function(int n)
{
	return n + static_variable++;
}

int interposed(int n)
{
	return n + 100;
}

int main(int argc, char **argv)
{
	SHOW(main);
	SHOW(&global_variable);
	SHOW(&static_variable);
	SHOW(static_function);
	SHOW(in_library);
	SHOW(interposed);
	SHOW(puts);
	SHOW(fopen);
	SHOW(memcpy);
	SHOW(strlen);
	SHOW(&stderr);
	SHOW(&environ);
	SHOW(never_defined);
	printf("thread_variable %p\n",
	       (void *)((char *)&thread_variable - (char *)__builtin_thread_pointer()));
	printf("%d %zu %p\n", in_library(argc) + static_function(argc), strlen(argv[0]),
	       memcpy(malloc(8), argv[0], 2));
	printf("ready\n");
	fflush(stdout);
	pause();
	return 0;
}
