// SPDX-License-Identifier: GPL-3.0-or-later
// server.c - the demonstration server: a thread for each connection to a UNIX socket, a line in, a
// line out

#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "readings.h"

/* It ends by itself: a demonstration that was interrupted leaves nothing behind. */
#define LIFETIME_SECONDS 600

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	FILE *requests = fdopen(fd, "r");
	char request[128], reply[128];

	if (!requests)
		err(1, "cannot serve a client");
	while (fgets(request, sizeof(request), requests)) {
		request[strcspn(request, "\n")] = '\0';
		readings_answer(request, reply, sizeof(reply));
		if (dprintf(fd, "%s\n", reply) < 0)
			break;
	}
	fclose(requests);
	return NULL;
}

static int listen_at(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path) >=
	    (int)sizeof(addr.sun_path))
		errx(2, "the path '%s' is too long for a socket", path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 64))
		err(1, "cannot listen at '%s'", path);
	return fd;
}

int main(int argc, char **argv)
{
	int listener;

	if (argc != 2)
		errx(2, "usage: thermo SOCKET");
	alarm(LIFETIME_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	listener = listen_at(argv[1]);
	for (;;) {
		int client = accept(listener, NULL, NULL);
		pthread_t thread;

		if (client < 0)
			err(1, "cannot accept");
		if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)client))
			errx(1, "cannot start a thread");
		pthread_detach(thread);
	}
}
