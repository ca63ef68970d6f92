// SPDX-License-Identifier: GPL-3.0-or-later
// unpack.c - a tarball's parts, taken out by a process of its own that can do nothing else

#include "update/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/confine.h"
#include "base/file.h"
#include "update/tarball.h"

enum {
	TIME_S = 60,
	NAME_LEN_MAX = 255, /* as parts_check_name has it */
};

/*
 * What the child says: this; then its struct uspl_err if it has failed, else the folder's name and,
 * for each part, a part_head, the name and the data.
 */
struct answer {
	uint32_t failed;
	uint32_t folder_len;
	uint32_t n;
};

struct part_head {
	uint32_t name_len;
	uint32_t len;
};

/* The child's side */

static void say(int fd, const void *data, size_t len)
{
	for (const char *at = data; len;) {
		ssize_t done = write(fd, at, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			_exit(1);
		at += done;
		len -= (size_t)done;
	}
}

static void say_parts(int fd, const struct parts *parts)
{
	struct answer answer = { .n = (uint32_t)parts->items.n };
	const struct part *part;

	answer.folder_len = parts->folder ? (uint32_t)strlen(parts->folder) : 0;
	say(fd, &answer, sizeof(answer));
	say(fd, parts->folder, answer.folder_len);
	vec_for_each (&parts->items, part) {
		struct part_head head = { (uint32_t)strlen(part->name), (uint32_t)part->len };

		say(fd, &head, sizeof(head));
		say(fd, part->name, head.name_len);
		say(fd, part->data, part->len);
	}
}

static _Noreturn void unpack(int fd, pid_t parent, const void *data, size_t len)
{
	const struct rlimit cpu = { TIME_S, TIME_S + 1 };
	struct answer failed = { .failed = 1 };
	struct parts parts = { 0 };
	struct uspl_err err = { 0 };

	/* This process keeps nothing that the command has open, its output among that. */
	if (dup2(fd, 0) < 0 || close_range(1, ~0u, 0) < 0)
		_exit(1);
	fd = 0;
	/* The parent handles signals, and this process ends with it. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	setrlimit(RLIMIT_CPU, &cpu);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	confine(CONFINE_FILE);
	if (tarball_read(data, len, &parts, &err) == 0) {
		say_parts(fd, &parts);
		_exit(0);
	}
	say(fd, &failed, sizeof(failed));
	say(fd, &err, sizeof(err));
	_exit(0);
}

/* The parent's side */

/* Where the child is heard, and until when: it might say a byte now and then for ever. */
struct ear {
	int fd;
	int64_t deadline;
};

static int fail_silent(struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_FILE, "the process that unpacks it doesn't answer");
}

/* Reads all of it. USPL_E_FILE when the child has said less. */
static int hear(const struct ear *ear, void *data, size_t len, struct uspl_err *err)
{
	for (char *at = data; len;) {
		struct pollfd ready = { .fd = ear->fd, .events = POLLIN };
		int64_t left_ms = (ear->deadline - clock_now_ns()) / 1000000;
		int rc = cancel_check(err),
		    n = rc || left_ms <= 0 ? 0 : poll(&ready, 1, (int)left_ms);
		ssize_t got = n > 0 ? read(ear->fd, at, len) : 0;

		if (rc)
			return rc;
		if ((n < 0 || got < 0) && errno == EINTR)
			continue;
		if (got <= 0)
			return fail_silent(err);
		at += got;
		len -= (size_t)got;
	}
	return 0;
}

/* A failure as the child put it. */
static int hear_failure(const struct ear *ear, struct uspl_err *err)
{
	struct uspl_err why;
	int rc = hear(ear, &why, sizeof(why), err);

	if (rc)
		return rc;
	why.msg[sizeof(why.msg) - 1] = why.hint[sizeof(why.hint) - 1] = '\0';
	if (why.code != USPL_E_FILE && why.code != USPL_E_HOSTILE && why.code != USPL_E_NOMEM)
		return fail_silent(err);
	rc = uspl_fail(err, why.code, "%s", why.msg);
	if (why.hint[0])
		uspl_hint(err, "%s", why.hint);
	return rc;
}

/* A name of that length, checked. The caller frees it. */
static int hear_name(const struct ear *ear, uint32_t len, char **ret, struct uspl_err *err)
{
	auto_free char *name = len && len <= NAME_LEN_MAX ? calloc(1, len + 1) : NULL;
	int rc;

	if (!name)
		return fail_silent(err);
	rc = hear(ear, name, len, err);
	if (rc)
		return rc;
	rc = parts_check_name(name, err);
	if (rc)
		return rc;
	*ret = take_ptr(name);
	return 0;
}

static int hear_part(const struct ear *ear, struct parts *parts, struct uspl_err *err)
{
	auto_buf struct buf data = { 0 };
	auto_free char *name = NULL, *bytes = NULL;
	struct part_head head;
	int rc = hear(ear, &head, sizeof(head), err);

	if (rc)
		return rc;
	rc = hear_name(ear, head.name_len, &name, err);
	if (rc)
		return rc;
	rc = parts_check_room(parts, head.len, err);
	if (rc)
		return rc;
	bytes = malloc(head.len + 1);
	if (!bytes)
		return uspl_fail_nomem(err);
	rc = hear(ear, bytes, head.len, err);
	buf_add(&data, bytes, rc ? 0 : head.len);
	if (rc)
		return rc;
	return parts_add(parts, name, &data, err);
}

static int hear_all(const struct ear *ear, struct parts *parts, struct uspl_err *err)
{
	struct answer answer;
	int rc = hear(ear, &answer, sizeof(answer), err);

	if (rc)
		return rc;
	if (answer.failed)
		return hear_failure(ear, err);
	if (answer.folder_len) {
		rc = hear_name(ear, answer.folder_len, &parts->folder, err);
		if (rc)
			return rc;
	}
	if (answer.n > PARTS_MAX_ENTRIES) {
		rc = fail_silent(err);
		if (rc)
			return rc;
	}
	for (uint32_t i = 0; i < answer.n; i++) {
		rc = hear_part(ear, parts, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * The child has said all that it has to say, or isn't wanted any more. If it has died by itself,
 * that is why it said nothing.
 */
static int end_child(pid_t child, int rc, struct uspl_err *err)
{
	int status = 0;

	if (rc)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (rc == -USPL_E_FILE && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		return uspl_fail(
			err, USPL_E_FILE,
			"the process that unpacks it died of signal %d (%s): it is damaged, "
			"or made to harm",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	return rc;
}

int unpack_apart(const void *data, size_t len, struct parts *parts, struct uspl_err *err)
{
	pid_t child, parent = getpid();
	struct ear ear = { .deadline = clock_now_ns() + TIME_S * 1000000000ll };
	int fds[2], rc;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return uspl_fail_errno(err, "cannot make a pipe");
	child = fork();
	if (child == 0)
		unpack(fds[1], parent, data, len);
	close(fds[1]);
	ear.fd = fds[0];
	rc = child < 0 ? uspl_fail_errno(err, "cannot start a process to unpack it")
		       : hear_all(&ear, parts, err);
	close(fds[0]);
	return child < 0 ? rc : end_child(child, rc, err);
}
