// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - functions with arguments and results of all sorts, whose values the request decides

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "serve.h"

enum color { RED, GREEN = 5, BLUE };
struct pair {
	int a, b;
};
struct mixed {
	double real;
	long whole;
};
struct large {
	long words[4];
};

long numbers(int8_t tiny, unsigned char byte, short small, unsigned whole, int64_t wide,
	     uint64_t word, long seventh, char eighth);
double reals(double x, float y, int n, double z);
const char *texts(const char *first, const char *second);
enum color colors(enum color color, bool is_on);
long structures(struct pair pair, struct mixed mixed, struct large large, int behind, long last);
void quiet(long n);
int slow(int us);
static volatile long sink;

KEPT long numbers(int8_t tiny, unsigned char byte, short small, unsigned whole, int64_t wide,
		  uint64_t word, long seventh, char eighth)
{
	sink += byte;
	return tiny + small + (long)whole + wide + (long)word + seventh + eighth;
}

KEPT double reals(double x, float y, int n, double z)
{
	sink += n;
	return x + y + z;
}

KEPT const char *texts(const char *first, const char *second)
{
	sink += second != NULL;
	return first;
}

KEPT enum color colors(enum color color, bool is_on)
{
	sink += is_on;
	return color == RED ? BLUE : (enum color)7;
}

KEPT long structures(struct pair pair, struct mixed mixed, struct large large, int behind,
		     long last)
{
	return pair.a + (long)mixed.real + large.words[0] + behind + last;
}

KEPT void quiet(long n)
{
	sink += n;
}

KEPT int slow(int us)
{
	usleep((useconds_t)us);
	return us;
}

/* A string that ends with its page, behind which nothing is mapped. */
static char *at_the_edge(const char *text)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), len = strlen(text) + 1;
	char *map =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(map + page, page);
	return memcpy(map + page - len, text, len);
}

/* The string is overwritten as soon as the call is over: what counts is what it was. */
static void call_texts(const char *word)
{
	char copy[LINE_SIZE];

	snprintf(copy, sizeof(copy), "%s", word);
	texts(copy, at_the_edge("edge"));
	memset(copy, 'x', sizeof(copy) - 1);
	texts((const char *)16, NULL);
}

static void *call_numbers(void *n)
{
	for (int i = 0; i < 50; i++)
		numbers(-1, 200, -300, 4000000000u, -5000000000, UINT64_MAX, (long)n, 'A');
	return NULL;
}

static void call_in_threads(void)
{
	pthread_t threads[4];

	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, call_numbers, (void *)(i + 1));
	for (long i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

void answer(const char *request, char *reply, size_t size)
{
	char word[LINE_SIZE] = "";
	long n = 0;

	sscanf(request, "%s %ld", word, &n);
	if (!strcmp(word, "numbers"))
		numbers(-1, 200, -300, 4000000000u, -5000000000, UINT64_MAX, n, 'A');
	else if (!strcmp(word, "reals"))
		reals(0.1, 0.1f, (int)n, 1e100);
	else if (!strcmp(word, "texts"))
		call_texts(request + strlen("texts "));
	else if (!strcmp(word, "colors"))
		colors(n ? GREEN : RED, n != 0);
	else if (!strcmp(word, "structures"))
		structures((struct pair){ 1, 2 }, (struct mixed){ 1.5, 2 }, (struct large){ { 9 } },
			   (int)n, n + 1);
	else if (!strcmp(word, "threads"))
		call_in_threads();
	else if (!strcmp(word, "quiet"))
		quiet(n);
	else if (!strcmp(word, "slow"))
		slow((int)n);
	snprintf(reply, size, "%ld", n);
}
