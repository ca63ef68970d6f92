// SPDX-License-Identifier: GPL-3.0-or-later
// taskstats.c - the kernel's statistics of threads and processes, by generic netlink

#include "thread/taskstats.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Answers are below 1 KiB; what is longer isn't meant for this. */
#define ANSWER_MAX 4096
/* The kernel answers within the request; this only bounds a wait for what never comes. */
#define ANSWER_TIMEOUT_US 100000

struct request {
	struct nlmsghdr head;
	struct genlmsghdr generic;
	struct nlattr attr;
	char value[16];
};

struct answer {
	struct nlmsghdr head;
	struct genlmsghdr generic;
	char attrs[ANSWER_MAX];
};

/* Some attributes, one after the other. */
struct attrs {
	const char *at;
	size_t len;
};

static bool send_request(struct taskstats_link *link, uint16_t type, uint8_t command,
			 const struct nlattr *attr, const void *value)
{
	struct request req = {
		.head = { .nlmsg_type = type,
			  .nlmsg_flags = NLM_F_REQUEST,
			  .nlmsg_seq = ++link->seq },
		.generic = { .cmd = command, .version = TASKSTATS_GENL_VERSION },
		.attr = *attr,
	};
	size_t len = offsetof(struct request, attr) + NLA_ALIGN(attr->nla_len);

	memcpy(req.value, value, attr->nla_len - sizeof(req.attr));
	req.head.nlmsg_len = (uint32_t)len;
	return send(link->fd, &req, len, 0) == (ssize_t)len;
}

/* The attributes of the answer to the last request; an older request's late answer is skipped. */
static bool receive(struct taskstats_link *link, struct answer *answer, struct attrs *ret)
{
	for (;;) {
		ssize_t got = recv(link->fd, answer, sizeof(*answer), 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < (ssize_t)offsetof(struct answer, attrs) ||
		    answer->head.nlmsg_len > (size_t)got)
			return false;
		if (answer->head.nlmsg_seq != link->seq)
			continue;
		if (answer->head.nlmsg_type == NLMSG_ERROR ||
		    answer->head.nlmsg_len < offsetof(struct answer, attrs))
			return false;
		*ret = (struct attrs){ answer->attrs,
				       answer->head.nlmsg_len - offsetof(struct answer, attrs) };
		return true;
	}
}

/* The contents of the first attribute of that type. */
static bool find_attr(struct attrs in, uint16_t type, struct attrs *ret)
{
	while (in.len >= sizeof(struct nlattr)) {
		struct nlattr attr;
		size_t step;

		memcpy(&attr, in.at, sizeof(attr));
		if (attr.nla_len < sizeof(attr) || attr.nla_len > in.len)
			return false;
		if ((attr.nla_type & NLA_TYPE_MASK) == type) {
			*ret = (struct attrs){ in.at + sizeof(attr), attr.nla_len - sizeof(attr) };
			return true;
		}
		step = NLA_ALIGN(attr.nla_len);
		if (step >= in.len)
			return false;
		in.at += step;
		in.len -= step;
	}
	return false;
}

int taskstats_open(struct taskstats_link *link, struct uspl_err *err)
{
	const struct timeval timeout = { .tv_usec = ANSWER_TIMEOUT_US };
	const struct nlattr name = { sizeof(name) + sizeof(TASKSTATS_GENL_NAME),
				     CTRL_ATTR_FAMILY_NAME };
	struct answer answer;
	struct attrs attrs, id;

	*link = (struct taskstats_link){ .fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
						      NETLINK_GENERIC) };
	if (link->fd < 0)
		return uspl_fail_errno(err, "cannot open a netlink socket");
	setsockopt(link->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (!send_request(link, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, &name, TASKSTATS_GENL_NAME) ||
	    !receive(link, &answer, &attrs) || !find_attr(attrs, CTRL_ATTR_FAMILY_ID, &id) ||
	    id.len < sizeof(link->family)) {
		taskstats_close(link);
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the kernel does not offer taskstats here");
	}
	memcpy(&link->family, id.at, sizeof(link->family));
	return 0;
}

void taskstats_close(struct taskstats_link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
}

/* Asks for the statistics of one id; the answer holds them inside an attribute of type `group`. */
static bool ask_runs(struct taskstats_link *link, uint16_t what, uint32_t id, uint16_t group,
		     uint64_t *ret)
{
	const struct nlattr attr = { sizeof(attr) + sizeof(id), what };
	struct answer answer;
	struct attrs attrs, inner, stats;

	if (link->fd < 0 || !send_request(link, link->family, TASKSTATS_CMD_GET, &attr, &id) ||
	    !receive(link, &answer, &attrs) || !find_attr(attrs, group, &inner) ||
	    !find_attr(inner, TASKSTATS_TYPE_STATS, &stats) ||
	    stats.len < offsetof(struct taskstats, cpu_count) + sizeof(*ret))
		return false;
	memcpy(ret, stats.at + offsetof(struct taskstats, cpu_count), sizeof(*ret));
	return true;
}

bool taskstats_thread_runs(struct taskstats_link *link, pid_t tid, uint64_t *ret)
{
	return ask_runs(link, TASKSTATS_CMD_ATTR_PID, (uint32_t)tid, TASKSTATS_TYPE_AGGR_PID, ret);
}

bool taskstats_process_runs(struct taskstats_link *link, pid_t pid, uint64_t *ret)
{
	return ask_runs(link, TASKSTATS_CMD_ATTR_TGID, (uint32_t)pid, TASKSTATS_TYPE_AGGR_TGID,
			ret);
}
