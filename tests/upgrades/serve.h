/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * serve.h - a web server that answers each request with a number, on a port of the kernel's choice,
 * which is printed. Four threads answer.
 */
#ifndef USPL_UPGRADES_SERVE_H
#define USPL_UPGRADES_SERVE_H

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4 };

static int server;

/* The number for a request of /PATH; may be asked by several threads at once. */
static int number_of(const char *path);

static void *answer(void *arg)
{
	(void)arg;
	for (;;) {
		int link = accept(server, NULL, NULL);
		char request[1024] = "";
		ssize_t len = read(link, request, sizeof(request) - 1);

		if (len <= 0 || strncmp(request, "GET /", 5)) {
			close(link);
			continue;
		}
		dprintf(link, "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n%d\n",
			number_of(request + 5));
		shutdown(link, SHUT_WR);
		while (read(link, request, sizeof(request)) > 0)
			;
		close(link);
	}
	return NULL;
}

/* Returns only if that can't be done. */
static int serve(void)
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
	return 1;
}

#endif
