// SPDX-License-Identifier: GPL-3.0-or-later
// client.c - the demonstration's clients: one question, or a load whose every reply is checked
//
//     client SOCKET ask WORD...           sends one request and prints the reply
//     client SOCKET load CONNECTIONS      asks without a pause until SIGTERM, then prints what came
//                                         of it
//     client SOCKET watch NAME            every 50 ms until SIGTERM: the time, how many requests
//                                         there have been, what the server says of NAME
//
// Under load each connection has a reading of its own. It stores a value and reads it back; right
// is what the server says before the fix or after it, for that very value. Anything else, a lost
// connection included, is a failure.

#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 56 /* the server has room for 64 readings */
#ifndef LIFETIME_SECONDS
#define LIFETIME_SECONDS 300
#endif

struct connection {
	pthread_t thread;
	FILE *replies;
	int fd, number;
	unsigned long requests, failures;
};

static volatile sig_atomic_t stop_asked;

static void on_term(int sig)
{
	(void)sig;
	stop_asked = 1;
}

static void connection_open(struct connection *conn, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = 10 };

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	conn->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (conn->fd < 0 || connect(conn->fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "cannot connect to '%s'", path);
	setsockopt(conn->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	conn->replies = fdopen(conn->fd, "r");
	if (!conn->replies)
		err(1, "cannot read from '%s'", path);
}

/* False if the connection is gone or the server is silent for too long. */
static int ask(struct connection *conn, const char *request, char *reply, int size)
{
	if (dprintf(conn->fd, "%s\n", request) < 0 || !fgets(reply, size, conn->replies))
		return 0;
	reply[strcspn(reply, "\n")] = '\0';
	return 1;
}

/* One value there and back: both replies must be right. */
static int round_trip(struct connection *conn, int fahrenheit)
{
	char request[64], reply[128], before[64], after[64];

	snprintf(request, sizeof(request), "put load%d %d", conn->number, fahrenheit);
	if (!ask(conn, request, reply, sizeof(reply)) || strcmp(reply, "ok"))
		return 0;
	snprintf(request, sizeof(request), "get load%d", conn->number);
	snprintf(before, sizeof(before), "load%d is 0 C", conn->number);
	snprintf(after, sizeof(after), "load%d is %d C", conn->number, (fahrenheit - 32) * 5 / 9);
	return ask(conn, request, reply, sizeof(reply)) &&
	       (!strcmp(reply, before) || !strcmp(reply, after));
}

static void *load(void *arg)
{
	struct connection *conn = arg;

	while (!stop_asked && !conn->failures) {
		if (round_trip(conn, (int)(conn->requests % 1000)))
			conn->requests += 2;
		else
			conn->failures++;
	}
	return NULL;
}

static int run_load(const char *path, int n)
{
	static struct connection conns[CONNECTIONS_MAX];
	unsigned long requests = 0, failures = 0;

	signal(SIGTERM, on_term);
	for (int i = 0; i < n; i++) {
		conns[i].number = i;
		connection_open(&conns[i], path);
		if (pthread_create(&conns[i].thread, NULL, load, &conns[i]))
			errx(1, "cannot start a thread");
	}
	for (int i = 0; i < n; i++) {
		pthread_join(conns[i].thread, NULL);
		requests += conns[i].requests;
		failures += conns[i].failures;
		fclose(conns[i].replies);
	}
	printf("%lu requests, %lu failed\n", requests, failures);
	return failures || !requests;
}

static int run_ask(const char *path, char **words)
{
	struct connection conn = { 0 };
	char request[128] = "", reply[128];
	size_t len = 0;
	int ok;

	for (; *words && len < sizeof(request); words++)
		len += (size_t)snprintf(request + len, sizeof(request) - len, "%s%s",
					len ? " " : "", *words);
	connection_open(&conn, path);
	ok = ask(&conn, request, reply, sizeof(reply));
	if (ok)
		puts(reply);
	fclose(conn.replies);
	return !ok;
}

static int run_watch(const char *path, const char *name)
{
	const struct timespec pause = { .tv_nsec = 50 * 1000 * 1000 };
	char request[64], count[64], answer[128];
	struct connection conn = { 0 };
	struct timespec now;

	signal(SIGTERM, on_term);
	connection_open(&conn, path);
	snprintf(request, sizeof(request), "get %s", name);
	while (!stop_asked && ask(&conn, "count", count, sizeof(count)) &&
	       ask(&conn, request, answer, sizeof(answer))) {
		clock_gettime(CLOCK_REALTIME, &now);
		printf("%lld.%06ld %lu %s\n", (long long)now.tv_sec, now.tv_nsec / 1000,
		       strtoul(count, NULL, 10), answer);
		nanosleep(&pause, NULL);
	}
	fclose(conn.replies);
	return !stop_asked;
}

int main(int argc, char **argv)
{
	int n;

	alarm(LIFETIME_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	if (argc > 3 && !strcmp(argv[2], "ask"))
		return run_ask(argv[1], argv + 3);
	if (argc == 4 && !strcmp(argv[2], "watch"))
		return run_watch(argv[1], argv[3]);
	n = argc == 4 && !strcmp(argv[2], "load") ? atoi(argv[3]) : 0;
	if (n < 1 || n > CONNECTIONS_MAX)
		errx(2, "usage: client SOCKET ask WORD... | load CONNECTIONS | watch NAME");
	return run_load(argv[1], n);
}
