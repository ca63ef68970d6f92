// SPDX-License-Identifier: GPL-3.0-or-later
// keeper.c - a client that remembers what it stored in a redis or memcached
//
//     keeper ask SOCKET REQUEST                       sends one line and prints the first line of
//                                                     the reply
//     keeper redis|memcached SOCKET CONNECTIONS       keeps the server busy, and watches it
//
// Each connection owns a few keys and writes and reads them in turn, without a pause, until
// SIGTERM. What a read brings must be what was written last. Then every key is read once more:
// those that are gone or wrong are lost. A wrong reply, a reply that takes too long, and a
// connection that ends are failures. The last line says what came of it; the exit status is 0 only
// if nothing failed and nothing was lost.

#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define KEYS 40 /* of each connection */
#define CONNECTIONS_MAX 256
#define PATIENCE_SECONDS 20
#define LIFETIME_SECONDS 1800

/*
 * Both servers speak lines; a protocol is the text of four of them. %1$s is the key, %2$s the
 * value, %3$zu its length.
 */
struct protocol {
	const char *name;
	const char *set, *set_reply;
	const char *get, *get_reply;
};

static const struct protocol protocols[] = {
	{
		.name = "redis",
		.set = "SET %1$s %2$s\r\n",
		.set_reply = "+OK\r\n",
		.get = "GET %1$s\r\n",
		.get_reply = "$%3$zu\r\n%2$s\r\n",
	},
	{
		.name = "memcached",
		.set = "set %1$s 0 0 %3$zu\r\n%2$s\r\n",
		.set_reply = "STORED\r\n",
		.get = "get %1$s\r\n",
		.get_reply = "VALUE %1$s 0 %3$zu\r\n%2$s\r\nEND\r\n",
	},
};

struct connection {
	const struct protocol *protocol;
	pthread_t thread;
	int fd, number;
	unsigned long stored[KEYS]; /* what each key holds, 0 if nothing yet */
	unsigned long requests, failures, lost;
};

static volatile sig_atomic_t stop_asked;

static void on_term(int sig)
{
	(void)sig;
	stop_asked = 1;
}

/* Reads exactly as much as is expected, and compares. */
static int reply_is(const struct connection *conn, const char *want)
{
	char reply[256];
	size_t len = strlen(want), got = 0;

	while (got < len) {
		ssize_t n = recv(conn->fd, reply + got, len - got, 0);

		if (n <= 0)
			return 0;
		got += (size_t)n;
		if (memcmp(reply, want, got))
			return 0;
	}
	return 1;
}

/* One request and its reply, both given as formats of struct protocol. */
static int exchange(struct connection *conn, int key, const char *ask, const char *want)
{
	char name[32], value[64], request[256], reply[256];
	size_t len;

	snprintf(name, sizeof(name), "key:%d:%d", conn->number, key);
	len = (size_t)snprintf(value, sizeof(value), "value-%lu-of-%s", conn->stored[key], name);
	snprintf(request, sizeof(request), ask, name, value, len);
	snprintf(reply, sizeof(reply), want, name, value, len);
	if (send(conn->fd, request, strlen(request), MSG_NOSIGNAL) != (ssize_t)strlen(request) ||
	    !reply_is(conn, reply))
		return 0;
	conn->requests++;
	return 1;
}

static int set(struct connection *conn, int key)
{
	conn->stored[key] = conn->requests + 1;
	return exchange(conn, key, conn->protocol->set, conn->protocol->set_reply);
}

static int get(struct connection *conn, int key)
{
	return exchange(conn, key, conn->protocol->get, conn->protocol->get_reply);
}

static void *keep(void *arg)
{
	struct connection *conn = arg;

	for (int turn = 0; !stop_asked && !conn->failures; turn++) {
		int older = (turn * 7 + 3) % KEYS;

		if (!set(conn, turn % KEYS) || (conn->stored[older] && !get(conn, older)))
			conn->failures++;
	}
	for (int key = 0; key < KEYS; key++)
		if (conn->stored[key] && (conn->failures || !get(conn, key)))
			conn->lost++;
	close(conn->fd);
	return NULL;
}

static void connection_open(struct connection *conn, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = PATIENCE_SECONDS };

	if (snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path) >=
	    (int)sizeof(addr.sun_path))
		errx(2, "the path '%s' is too long for a socket", path);
	conn->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (conn->fd < 0 || connect(conn->fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "cannot connect to '%s'", path);
	setsockopt(conn->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

static const struct protocol *protocol_find(const char *name)
{
	for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
		if (!strcmp(protocols[i].name, name))
			return &protocols[i];
	return NULL;
}

static int run_keepers(const struct protocol *protocol, const char *path, int n)
{
	static struct connection conns[CONNECTIONS_MAX];
	unsigned long requests = 0, failures = 0, lost = 0;

	signal(SIGTERM, on_term);
	for (int i = 0; i < n; i++) {
		conns[i].protocol = protocol;
		conns[i].number = i;
		connection_open(&conns[i], path);
		if (pthread_create(&conns[i].thread, NULL, keep, &conns[i]))
			errx(1, "cannot start a thread");
	}
	for (int i = 0; i < n; i++) {
		pthread_join(conns[i].thread, NULL);
		requests += conns[i].requests;
		failures += conns[i].failures;
		lost += conns[i].lost;
	}
	printf("%lu requests, %lu failed, %lu keys lost\n", requests, failures, lost);
	return failures || lost || !requests;
}

static int run_ask(const char *path, const char *request)
{
	struct connection conn = { 0 };
	char reply[256] = "";
	size_t got = 0;
	ssize_t n = 1;

	connection_open(&conn, path);
	if (dprintf(conn.fd, "%s\r\n", request) < 0)
		err(1, "cannot send");
	while (n > 0 && got < sizeof(reply) - 1 && !strchr(reply, '\n')) {
		n = recv(conn.fd, reply + got, sizeof(reply) - 1 - got, 0);
		got += n > 0 ? (size_t)n : 0;
	}
	close(conn.fd);
	printf("%.*s\n", (int)strcspn(reply, "\r\n"), reply);
	return n <= 0;
}

int main(int argc, char **argv)
{
	const struct protocol *protocol = argc == 4 ? protocol_find(argv[1]) : NULL;
	int n = argc == 4 ? atoi(argv[3]) : 0;

	alarm(LIFETIME_SECONDS);
	if (argc == 4 && !strcmp(argv[1], "ask"))
		return run_ask(argv[2], argv[3]);
	if (!protocol || n < 1 || n > CONNECTIONS_MAX)
		errx(2, "usage: keeper redis|memcached SOCKET CONNECTIONS | keeper ask SOCKET "
			"REQUEST");
	return run_keepers(protocol, argv[2], n);
}
