// SPDX-License-Identifier: GPL-3.0-or-later
// c-ares.c - reads configurations and addresses, and asks a server that isn't there

#include "drive.h"

#include <arpa/inet.h>
#include <ares.h>

static void answered(void *arg, int status, int timeouts, unsigned char *reply, int len)
{
	(void)timeouts;
	(void)reply;
	(void)len;
	*(int *)arg = status;
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
	while (status < 0) {
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
	ares_destroy(channel);
	return sum + (unsigned long)(status != 0);
}

const char *probe(const char *fix)
{
	(void)fix;
	return "";
}
