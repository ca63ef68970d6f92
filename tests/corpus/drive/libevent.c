// SPDX-License-Identifier: GPL-3.0-or-later
// libevent.c - an HTTP server on a socket of the file system, and what asks it

#include "drive.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <malloc.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

struct server {
	struct event_base *base;
	struct sockaddr_un name;
};

static void answer(struct evhttp_request *request, void *ctx)
{
	struct evbuffer *body = evbuffer_new();

	(void)ctx;
	evhttp_add_header(evhttp_request_get_output_headers(request), "X-Kind", "load");
	evbuffer_add_printf(body, "hello %s\n", evhttp_request_get_uri(request));
	evhttp_send_reply(request, HTTP_OK, "OK", body);
	evbuffer_free(body);
}

static bool bind_to(int fd, const char *path, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	strcpy(ret->sun_path, path);
	unlink(path);
	return !bind(fd, (struct sockaddr *)ret, sizeof(*ret));
}

static bool begin_server(struct server *server, const char *path)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct evhttp *http;

	server->base = event_base_new();
	http = evhttp_new(server->base);
	evhttp_set_gencb(http, answer, NULL);
	return bind_to(fd, path, &server->name) && !listen(fd, 10) &&
	       !evhttp_accept_socket(http, fd);
}

/* The status that a request is answered with; client: the name of its socket; NULL: it has none. */
static int ask(struct server *server, const char *request, const char *client, unsigned long *sum)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), status = 0;
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	struct sockaddr_un own;
	char reply[4096], *body;
	ssize_t n = 0;

	if ((client && !bind_to(fd, client, &own)) ||
	    connect(fd, (struct sockaddr *)&server->name, sizeof(server->name)) < 0 ||
	    send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		return 0;
	for (int turn = 0; turn < 10000 && !ready.revents; turn++) {
		event_base_loop(server->base, EVLOOP_NONBLOCK);
		poll(&ready, 1, turn < 100 ? 0 : 1);
	}
	if (ready.revents)
		n = recv(fd, reply, sizeof(reply) - 1, MSG_DONTWAIT);
	reply[n > 0 ? n : 0] = '\0';
	sscanf(reply, "HTTP/1.1 %d", &status);
	/* Before it is the date. */
	body = strstr(reply, "hello");
	*sum = body ? digest((unsigned long)status, body, strlen(body)) : 0;
	close(fd);
	event_base_loop(server->base, EVLOOP_NONBLOCK);
	return status;
}

unsigned long work(void)
{
	static const char plain[] = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n",
			  chunked[] = "POST /b?c=d HTTP/1.1\r\nHost: h\r\n"
				      "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
	static struct server server;
	unsigned long sums[2] = { 0 };

	if (!server.base && !begin_server(&server, "load.socket"))
		return 1;
	ask(&server, plain, NULL, &sums[0]);
	ask(&server, chunked, NULL, &sums[1]);
	return sums[0] + 3 * sums[1];
}

static int ask_another(const char *request, const char *client)
{
	struct server server;
	unsigned long sum;

	return begin_server(&server, "asked.socket") ? ask(&server, request, client, &sum) : -1;
}

/* A body that has its length in two ways is what two servers would take for two things. */
static const char *two_lengths(void)
{
	static const char request[] = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
				      "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
	int status = ask_another(request, NULL);

	return status == 400 ? "new" : status == 200 ? "old" : "";
}

/* A client whose socket has a longer name than an address of the network. */
static const char *long_name(void)
{
	int status = ask_another("GET / HTTP/1.1\r\nHost: h\r\n\r\n",
				 "a-name-of-46-characters-which-has-room-in-none");

	return status == 200 ? "new" : "";
}

/* What is freed is overwritten, and not used again. */
static void spoil(void *block)
{
	if (block)
		memset(block, 0x5a, malloc_usable_size(block));
}

/* A buffer with nothing in its only part gets what another one has. */
static const char *empty_part(void)
{
	static const char text[] = "some text";
	struct evbuffer *to, *from;

	event_set_mem_functions(malloc, realloc, spoil);
	to = evbuffer_new();
	from = evbuffer_new();
	evbuffer_add_reference(to, "", 0, NULL, NULL);
	evbuffer_add(from, text, sizeof(text));
	evbuffer_add_buffer_reference(to, from);
	if (evbuffer_get_length(to) != sizeof(text))
		return "old";
	return memcmp(evbuffer_pullup(to, -1), text, sizeof(text)) ? "old" : "new";
}

const char *probe(const char *fix)
{
	if (!strcmp(fix, "CVE-2026-63381.patch"))
		return empty_part();
	if (!strcmp(fix, "CVE-2026-63382.patch"))
		return two_lengths();
	if (!strcmp(fix, "CVE-2026-63388.patch"))
		return long_name();
	return "";
}
