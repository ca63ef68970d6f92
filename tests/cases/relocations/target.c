// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - refers to everything

#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"

int nobody(void) __attribute__((weak));
static int small, initialised = 100;
int global_number;
static char large[100000];
static int large_numbers[30000] = { 7 };
static __thread int here;
__thread int there = 10;

KEPT static int twice(int n)
{
	return 2 * n;
}

KEPT int plus(int n)
{
	return n + 1;
}

static int (*const steps[])(int) = { plus, twice, abs };
static const char *const words[] = { "none", "one", "two" };
static const double halves[] = { 0.5, 1.5, 2.5 };

KEPT static void calls(const char *s, char *reply, size_t size)
{
	char copy[LINE_SIZE];

	memcpy(copy, s, strlen(s) + 1);
	snprintf(reply, size, "%zu %s %s %d", strlen(copy), strchr(copy, 'c'),
		 nobody ? "some" : "none", environ && stderr != NULL);
}

KEPT static void data(int n, char *reply, size_t size)
{
	small += n;
	global_number++;
	initialised += n;
	snprintf(reply, size, "%d %d %d %d", small, global_number, initialised,
		 (int)fmin(3.25, fileno(stderr) + 3));
}

KEPT static void large_data(int n, char *reply, size_t size)
{
	large[n * 10000] = (char)n;
	large_numbers[n * 1000] = large_numbers[0];
	snprintf(reply, size, "%d %d", large[n * 10000], large_numbers[n * 1000]);
}

KEPT static void table(int n, char *reply, size_t size)
{
	int (*step)(int) = steps[n & 1];

	snprintf(reply, size, "%s %.1f %d", words[n], halves[n], 10 * (step == plus) + 10);
}

KEPT static int choose(int n)
{
	switch (n) {
	case 0:
		return twice(7);
	case 1:
		return plus(n);
	case 2:
		return global_number;
	case 3:
		return small - n;
	case 4:
		return steps[n & 1](n) + 25;
	case 5:
		return (int)strlen(words[n % 3]);
	default:
		return -1;
	}
}

KEPT static void thread(int n, char *reply, size_t size)
{
	here += n;
	there += n;
	snprintf(reply, size, "%d %d", here, there);
}

void answer(const char *request, char *reply, size_t size)
{
	const char *arg = strchr(request, ' ') + 1;

	switch (request[0]) {
	case 'c':
		calls(arg, reply, size);
		break;
	case 'd':
		data(atoi(arg), reply, size);
		break;
	case 'l':
		large_data(atoi(arg), reply, size);
		break;
	case 's':
		snprintf(reply, size, "%d", choose(atoi(arg)));
		break;
	default:
		if (request[1] == 'a')
			table(atoi(arg), reply, size);
		else
			thread(atoi(arg), reply, size);
	}
}
