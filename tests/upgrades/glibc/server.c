// SPDX-License-Identifier: GPL-3.0-or-later
// server.c - a web server that has the C library work for it
//
//     /NUMBER     the number, out of as many strings that were allocated, sorted and freed
//     /words      how many words wordexp counts when it is to use a result of two words again, and
//                 to append one: CVE-2025-15281
//
// On a port of the kernel's choice, which is printed. Four threads answer.

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wordexp.h>

enum { THREADS = 4, MAX_STRINGS = 1000 };

static int server;

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int count_strings(int n)
{
	char **strings = calloc((size_t)n + 1, sizeof(*strings));
	int sorted = n > 0;

	for (int i = 0; i < n; i++)
		if (asprintf(&strings[i], "%d", n - i) < 0)
			return -1;
	qsort(strings, (size_t)n, sizeof(*strings), compare);
	for (int i = 1; i < n; i++)
		sorted += strcmp(strings[i - 1], strings[i]) < 0;
	for (int i = 0; i < n; i++)
		free(strings[i]);
	free(strings);
	return sorted;
}

static int count_words(void)
{
	wordexp_t words;

	if (wordexp("one two", &words, 0) || wordexp("three", &words, WRDE_REUSE | WRDE_APPEND))
		return -1;
	/* The older version has left places before the last one as they were: nothing is freed. */
	return (int)words.we_wordc;
}

static void *answer(void *arg)
{
	(void)arg;
	for (;;) {
		int link = accept(server, NULL, NULL), n;
		char request[1024] = "";
		ssize_t len = read(link, request, sizeof(request) - 1);

		if (len <= 0 || strncmp(request, "GET /", 5)) {
			close(link);
			continue;
		}
		n = atoi(request + 5);
		n = strncmp(request + 5, "words", 5) ? count_strings(n < MAX_STRINGS ? n : 0)
						     : count_words();
		dprintf(link, "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n%d\n", n);
		shutdown(link, SHUT_WR);
		while (read(link, request, sizeof(request)) > 0)
			;
		close(link);
	}
	return NULL;
}

int main(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	pthread_t thread;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(server, (struct sockaddr *)&address, sizeof(address)) || listen(server, 64) ||
	    getsockname(server, (struct sockaddr *)&address, &len))
		return 1;
	for (int i = 1; i < THREADS; i++)
		if (pthread_create(&thread, NULL, answer, NULL))
			return 1;
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	answer(NULL);
}
