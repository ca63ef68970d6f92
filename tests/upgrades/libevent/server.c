// SPDX-License-Identifier: GPL-3.0-or-later
// server.c - an HTTP server by libevent's evhttp, on a port of the kernel's choice, which it prints
//
// /fold answers whether a header with a line break in its value is taken: CVE-2026-63385.

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>

static void answer(struct evhttp_request *request, void *ctx)
{
	struct evbuffer *body = evbuffer_new();
	int taken = 0;

	(void)ctx;
	if (!strcmp(evhttp_request_get_uri(request), "/fold"))
		taken = !evhttp_add_header(evhttp_request_get_output_headers(request), "X-Folded",
					   "one\r\n two");
	evbuffer_add_printf(body, "%s\n", taken ? "taken" : "hello");
	evhttp_send_reply(request, HTTP_OK, "OK", body);
	evbuffer_free(body);
}

int main(void)
{
	struct event_base *base = event_base_new();
	struct evhttp *http = evhttp_new(base);
	struct evhttp_bound_socket *bound = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);
	struct sockaddr_in name;
	socklen_t size = sizeof(name);

	if (!bound ||
	    getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&name, &size))
		return 1;
	evhttp_set_gencb(http, answer, NULL);
	printf("%d\n", ntohs(name.sin_port));
	fflush(stdout);
	return event_base_dispatch(base);
}
