// SPDX-License-Identifier: GPL-3.0-or-later
// calls_sockets.c - blocking calls on sockets

#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"

static struct {
	int listener, timed_listener, full_listener;
	int pair[2], timed_pair[2], full_pair[2], timed_full_pair[2], half_pair[2], datagrams[2];
	struct sockaddr_un full_name;
	socklen_t full_name_len;
} on;

static char byte;

static void block_accept(void)
{
	accept(on.listener, NULL, NULL);
}

static void block_accept_timed(void)
{
	accept4(on.timed_listener, NULL, NULL, SOCK_CLOEXEC);
}

static void block_connect(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	connect(fd, (struct sockaddr *)&on.full_name, on.full_name_len);
	close(fd);
}

static void block_connect_timed(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &hour_tv, sizeof(hour_tv));
	connect(fd, (struct sockaddr *)&on.full_name, on.full_name_len);
	close(fd);
}

static void block_recv(void)
{
	recv(on.pair[0], &byte, 1, 0);
}

static void block_recv_timed(void)
{
	recv(on.timed_pair[0], &byte, 1, 0);
}

static void block_recv_peek(void)
{
	recv(on.pair[0], &byte, 1, MSG_PEEK);
}

/* Half of it is there. */
static void block_recv_all(void)
{
	char two[2];

	recv(on.half_pair[0], two, sizeof(two), MSG_WAITALL);
}

static void block_recvfrom(void)
{
	recvfrom(on.datagrams[0], &byte, 1, 0, NULL, NULL);
}

static struct msghdr *one_byte(struct msghdr *message, struct iovec *part)
{
	*part = (struct iovec){ &byte, 1 };
	*message = (struct msghdr){ .msg_iov = part, .msg_iovlen = 1 };
	return message;
}

static void block_recvmsg(void)
{
	struct msghdr message;
	struct iovec part;

	recvmsg(on.datagrams[0], one_byte(&message, &part), 0);
}

static void block_recvmmsg(void)
{
	struct mmsghdr message = { 0 };
	struct iovec part;

	one_byte(&message.msg_hdr, &part);
	recvmmsg(on.datagrams[0], &message, 1, 0, NULL);
}

static void block_read_socket(void)
{
	(void)!read(on.pair[0], &byte, 1);
}

static void block_send(void)
{
	send(on.full_pair[0], &byte, 1, 0);
}

static void block_send_timed(void)
{
	send(on.timed_full_pair[0], &byte, 1, 0);
}

static void block_sendmsg(void)
{
	struct msghdr message;
	struct iovec part;

	sendmsg(on.full_pair[0], one_byte(&message, &part), 0);
}

static void block_sendmmsg(void)
{
	struct mmsghdr message = { 0 };
	struct iovec part;

	one_byte(&message.msg_hdr, &part);
	sendmmsg(on.full_pair[0], &message, 1, 0);
}

static int listen_anywhere(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	bind(fd, (struct sockaddr *)&name, sizeof(sa_family_t));
	listen(fd, 0);
	return fd;
}

/* Connects until nobody else can. */
static void fill_listener(void)
{
	int fd;

	on.full_listener = listen_anywhere();
	on.full_name_len = sizeof(on.full_name);
	getsockname(on.full_listener, (struct sockaddr *)&on.full_name, &on.full_name_len);
	do
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	while (connect(fd, (struct sockaddr *)&on.full_name, on.full_name_len) == 0);
	close(fd);
}

static void fill(int fd)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (send(fd, &byte, 1, 0) > 0)
		;
	fcntl(fd, F_SETFL, 0);
}

void make_sockets(void)
{
	on.listener = listen_anywhere();
	on.timed_listener = listen_anywhere();
	setsockopt(on.timed_listener, SOL_SOCKET, SO_RCVTIMEO, &hour_tv, sizeof(hour_tv));
	fill_listener();
	socketpair(AF_UNIX, SOCK_STREAM, 0, on.pair);
	socketpair(AF_UNIX, SOCK_STREAM, 0, on.timed_pair);
	setsockopt(on.timed_pair[0], SOL_SOCKET, SO_RCVTIMEO, &hour_tv, sizeof(hour_tv));
	socketpair(AF_UNIX, SOCK_STREAM, 0, on.half_pair);
	send(on.half_pair[1], &byte, 1, 0);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, on.datagrams);
	socketpair(AF_UNIX, SOCK_STREAM, 0, on.full_pair);
	fill(on.full_pair[0]);
	socketpair(AF_UNIX, SOCK_STREAM, 0, on.timed_full_pair);
	setsockopt(on.timed_full_pair[0], SOL_SOCKET, SO_SNDTIMEO, &hour_tv, sizeof(hour_tv));
	fill(on.timed_full_pair[0]);
}

const struct call socket_calls[] = {
	{ "accept", block_accept, 0 },
	{ "accept4, timed", block_accept_timed, 0 },
	{ "connect", block_connect, 0 },
	{ "connect, timed", block_connect_timed, 0 },
	{ "recv", block_recv, 0 },
	{ "recv, timed", block_recv_timed, 0 },
	{ "recv, MSG_PEEK", block_recv_peek, 0 },
	{ "recv, MSG_WAITALL, half of it there", block_recv_all, 1 },
	{ "recvfrom", block_recvfrom, 0 },
	{ "recvmsg", block_recvmsg, 0 },
	{ "recvmmsg", block_recvmmsg, 0 },
	{ "read of a socket", block_read_socket, 0 },
	{ "send", block_send, 0 },
	{ "send, timed", block_send_timed, 0 },
	{ "sendmsg", block_sendmsg, 0 },
	{ "sendmmsg", block_sendmmsg, 0 },
	{ NULL, NULL, 0 },
};
