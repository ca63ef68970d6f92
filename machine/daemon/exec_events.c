// SPDX-License-Identifier: GPL-3.0-or-later
// exec_events.c - the kernel tells of each program that a process of this machine executes

#include "machine/daemon/exec_events.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

/* The kernel answers at once, or not at all. */
#define ANSWER_MS 1000
/* Some ten thousand events. */
#define BUFFER_BYTES (4 << 20)

/* A message of the connector's: its two headers, then an event or a request. */
#define EVENT_AT (NLMSG_HDRLEN + sizeof(struct cn_msg))
#define WHAT_AT (EVENT_AT + offsetof(struct proc_event, what))

int exec_events_listen(int fd, bool listen, struct uspl_err *err)
{
	/* Lets executions through, and the answer to a request. A load is in network order. */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WHAT_AT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_EXEC), 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_NONE), 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	struct sock_filter nothing[] = { BPF_STMT(BPF_RET | BPF_K, 0) };
	struct sock_fprog program = { ARRAY_SIZE(code), code };

	if (!listen)
		program = (struct sock_fprog){ ARRAY_SIZE(nothing), nothing };
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0)
		return uspl_fail_errno(err, "cannot filter the kernel's process events");
	return 0;
}

static int fail_silent(struct uspl_err *err)
{
	uspl_fail(err, USPL_E_UNSUPPORTED, "the kernel tells nothing of new processes here");
	uspl_hint(err, "it takes a kernel with CONFIG_PROC_EVENTS, and the first pid, user and "
		       "network namespaces: run it on the host, not in a container");
	return -USPL_E_UNSUPPORTED;
}

static int ask(int fd, struct uspl_err *err)
{
	const enum proc_cn_mcast_op op = PROC_CN_MCAST_LISTEN;
	char request[EVENT_AT + sizeof(op)] = { 0 };
	struct nlmsghdr *header = (struct nlmsghdr *)request;
	struct cn_msg *message = NLMSG_DATA(header);

	header->nlmsg_len = sizeof(request);
	header->nlmsg_type = NLMSG_DONE;
	header->nlmsg_pid = (uint32_t)getpid();
	message->id = (struct cb_id){ CN_IDX_PROC, CN_VAL_PROC };
	message->len = sizeof(op);
	memcpy(message->data, &op, sizeof(op));
	if (send(fd, request, sizeof(request), 0) == (ssize_t)sizeof(request))
		return 0;
	if (errno == ECONNREFUSED)
		return fail_silent(err);
	return uspl_fail_errno(err, "cannot ask the kernel for its process events");
}

/* One event, if it is the kernel's. 0: none is left; -1 with errno. */
static ssize_t receive(int fd, struct proc_event *ret)
{
	/* A kernel that is newer than the header may have longer events. */
	_Alignas(struct nlmsghdr) char message[EVENT_AT + sizeof(*ret) + 256];
	struct sockaddr_nl from = { 0 };
	socklen_t from_len = sizeof(from);
	ssize_t got;

	do {
		got = recvfrom(fd, message, sizeof(message), MSG_DONTWAIT, (struct sockaddr *)&from,
			       &from_len);
	} while ((got < 0 && errno == EINTR) || (got >= 0 && from.nl_pid != 0));
	if (got < 0)
		return errno == EAGAIN ? 0 : -1;
	memset(ret, 0, sizeof(*ret));
	ret->what = PROC_EVENT_EXIT;
	if ((size_t)got > EVENT_AT)
		memcpy(ret, message + EVENT_AT,
		       (size_t)got - EVENT_AT < sizeof(*ret) ? (size_t)got - EVENT_AT
							     : sizeof(*ret));
	return 1;
}

/* The answer to the request, which may come behind events. */
static int await_answer(int fd, struct uspl_err *err)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	while (poll(&wait, 1, ANSWER_MS) > 0) {
		struct proc_event event;

		if (receive(fd, &event) < 0 && errno != ENOBUFS)
			return uspl_fail_errno(err, "cannot read the kernel's process events");
		if (event.what != PROC_EVENT_NONE)
			continue;
		errno = (int)event.event_data.ack.err;
		if (errno)
			return uspl_fail_errno(err, "the kernel tells nothing of new processes");
		return 0;
	}
	return fail_silent(err);
}

int exec_events_open(int *ret_fd, struct uspl_err *err)
{
	const struct sockaddr_nl group = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	const int size = BUFFER_BYTES;
	auto_close int fd =
		socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
	int rc;

	if (fd < 0 && errno == EPROTONOSUPPORT)
		return fail_silent(err);
	if (fd < 0)
		return uspl_fail_errno(err, "cannot listen to the kernel's process events");
	/* Without that a burst is lost, which is noticed. */
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	rc = exec_events_listen(fd, true, err);
	if (rc)
		return rc;
	if (bind(fd, (const struct sockaddr *)&group, sizeof(group)) < 0)
		return uspl_fail_errno(err, "cannot listen to the kernel's process events");
	rc = ask(fd, err);
	if (rc)
		return rc;
	rc = await_answer(fd, err);
	if (rc)
		return rc;
	*ret_fd = take_fd(fd);
	return 0;
}

int exec_events_read(int fd, pid_vec *ret, bool *ret_lost, struct uspl_err *err)
{
	for (;;) {
		struct proc_event event;
		ssize_t got = receive(fd, &event);
		int rc;

		if (!got)
			return 0;
		if (got < 0 && errno != ENOBUFS)
			return uspl_fail_errno(err, "cannot read the kernel's process events");
		if (got < 0) {
			*ret_lost = true;
			continue;
		}
		if (event.what != PROC_EVENT_EXEC)
			continue;
		rc = cli_add_pid(ret, event.event_data.exec.process_tgid, err);
		if (rc)
			return rc;
	}
}
