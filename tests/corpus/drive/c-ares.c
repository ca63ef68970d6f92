// SPDX-License-Identifier: GPL-3.0-or-later
// c-ares.c - reads configurations and addresses, and asks a server that isn't there

#include "drive.h"

#include <arpa/inet.h>
#include <ares.h>
#include <sys/socket.h>

static void answered(void *arg, int status, int timeouts, unsigned char *reply, int len)
{
	(void)timeouts;
	(void)reply;
	(void)len;
	*(int *)arg = status;
}

/* Until the query is answered, or has failed. */
static void process(ares_channel channel, const int *status)
{
	while (*status < 0) {
		struct timeval tv, *wait;
		fd_set in, out;
		int n;

		FD_ZERO(&in);
		FD_ZERO(&out);
		n = ares_fds(channel, &in, &out);
		if (!n)
			break;
		wait = ares_timeout(channel, NULL, &tv);
		select(n, &in, &out, NULL, wait);
		ares_process(channel, &in, &out);
	}
}

unsigned long work(void)
{
	struct ares_options options = { .timeout = 10, .tries = 1 };
	unsigned char address[16];
	ares_channel channel;
	unsigned long sum;
	int status = -1;

	if (ares_init_options(&channel, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES))
		return 1;
	sum = (unsigned long)ares_set_sortlist(channel, "10.0.0.0/8 192.168.1.0/255.255.255.0");
	sum = digest(sum, address, (size_t)ares_inet_pton(AF_INET6, "2001:db8::7", address) * 16);
	ares_set_servers_csv(channel, "127.0.0.1:9");
	ares_query(channel, "example.com", 1, 1, answered, &status);
	process(channel, &status);
	ares_destroy(channel);
	return sum + (unsigned long)(status != 0);
}

/* A server that sends nothing, and then an answer without records. */
static const char *empty_datagram(void)
{
	struct ares_options options = { .timeout = 5000, .tries = 1 };
	struct sockaddr_in name = { .sin_family = AF_INET }, from;
	socklen_t size = sizeof(name), from_size = sizeof(from);
	int fd = socket(AF_INET, SOCK_DGRAM, 0), status = -1;
	unsigned char question[512];
	char server[32];
	ares_channel channel;
	ssize_t len;

	name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&name, size) < 0 ||
	    getsockname(fd, (struct sockaddr *)&name, &size) < 0 ||
	    ares_init_options(&channel, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES))
		return "";
	snprintf(server, sizeof(server), "127.0.0.1:%d", ntohs(name.sin_port));
	ares_set_servers_ports_csv(channel, server);
	ares_query(channel, "example.com", 1, 1, answered, &status);
	len = recvfrom(fd, question, sizeof(question), 0, (struct sockaddr *)&from, &from_size);
	if (len < 12)
		return "";
	question[2] |= 0x80;
	sendto(fd, question, 0, 0, (struct sockaddr *)&from, from_size);
	sendto(fd, question, (size_t)len, 0, (struct sockaddr *)&from, from_size);
	process(channel, &status);
	return status == ARES_ENODATA ? "new" : "old";
}

const char *probe(const char *fix)
{
	unsigned char address[16];
	ares_channel channel;

	if (!strcmp(fix, "CVE-2023-32067.diff"))
		return empty_datagram();
	if (!strcmp(fix, "CVE-2023-31130.diff"))
		return ares_inet_pton(AF_INET6, "0::00:00:00/2", address) == 1 ? "new" : "old";
	if (strcmp(fix, "CVE-2022-4904.diff") != 0 || ares_init(&channel))
		return "";
	return ares_set_sortlist(channel, "111.111.111.111*/16") == ARES_EBADSTR ? "new" : "old";
}
