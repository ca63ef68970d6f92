// SPDX-License-Identifier: GPL-3.0-or-later
// audit.c - a line in the machine's log for each change of a process, and each refusal

#include "trust/audit.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "base/text.h"

/* Tells our entries from all others (journalctl MESSAGE_ID=...). */
#define MESSAGE_ID "5d2c1b7e0f9a4c86b3e8f4a17c60d92e"

/* A field: what journald calls it, and syslog's line. */
struct field {
	const char *name, *word;
	char text[AUDIT_TEXT_MAX];
};

enum { FIELDS_MAX = 20 };

struct fields {
	struct field items[FIELDS_MAX];
	size_t n;
};

/* Texts from strangers are escaped: a line stays a line, and a field a field. */
static void add(struct fields *fields, const char *name, const char *word, const char *text)
{
	struct field *field = &fields->items[fields->n];
	auto_buf struct buf clean = { 0 };
	size_t len = 0, n;
	uint32_t c;

	if (!text || !*text || fields->n == FIELDS_MAX)
		return;
	text_add_printable(&clean, text, strnlen(text, AUDIT_TEXT_MAX), false);
	/* The longest beginning that fits, and ends with a whole character. */
	while (len < clean.len && (n = text_decode(clean.data + len, clean.len - len, &c)) &&
	       len + n < sizeof(field->text))
		len += n;
	memcpy(field->text, buf_str(&clean), len);
	field->text[len] = '\0';
	field->name = name;
	field->word = word;
	fields->n++;
}

static void add_number(struct fields *fields, const char *name, const char *word, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	add(fields, name, word, text);
}

static void add_user(struct fields *fields, const char *name, const char *word, uid_t uid)
{
	if (uid != CALLER_NOBODY)
		add_number(fields, name, word, uid);
}

static void collect(const struct audit_event *event, const struct caller *caller,
		    struct fields *fields)
{
	add(fields, "USPL_COMMAND", "command", event->command);
	add(fields, "USPL_RESULT", "result", event->result);
	add(fields, "USPL_ERROR", "error", event->error);
	add(fields, "USPL_UPDATE", "update", event->update);
	if (event->pid) {
		add_number(fields, "USPL_PID", "pid", event->pid);
		add(fields, "USPL_EXE", "exe", event->exe);
		add_user(fields, "USPL_OWNER", "owner", event->owner);
	}
	add(fields, "USPL_BUILD_ID", "build_id", event->build_id);
	add(fields, "USPL_DIGEST", "digest", event->digest);
	add(fields, "USPL_SIGNER", "signer", event->signer);
	if (event->stop_us > 0)
		add_number(fields, "USPL_STOP_US", "stop_us", (int64_t)(event->stop_us + 0.5));
	add_user(fields, "USPL_UID", "uid", caller->uid);
	add_user(fields, "USPL_LOGINUID", "loginuid", caller->loginuid);
	add_user(fields, "USPL_SUDO_UID", "sudo_uid", caller->sudo_uid);
	add(fields, "USPL_TTY", "tty", caller->tty);
	add(fields, "USPL_MESSAGE", "message", event->message);
}

static int priority(const struct audit_event *event)
{
	return event->error ? LOG_WARNING : LOG_NOTICE;
}

/* What a person reads first. */
static void add_summary(struct buf *out, const struct audit_event *event,
			const struct fields *fields)
{
	const char *update = "", *result = "";

	for (size_t i = 0; i < fields->n; i++) {
		if (!strcmp(fields->items[i].word, "update"))
			update = fields->items[i].text;
		if (!strcmp(fields->items[i].word, "result"))
			result = fields->items[i].text;
	}
	buf_addf(out, "%s%s%s", event->command, *update ? " of " : "", update);
	if (event->pid)
		buf_addf(out, " in pid %d", event->pid);
	buf_addf(out, ": %s", result);
}

/* Values have no line ends, so each is a line (the protocol's plain form). */
static void write_native(struct buf *out, const struct audit_event *event,
			 const struct fields *fields)
{
	buf_addstr(out, "MESSAGE=");
	add_summary(out, event, fields);
	buf_addf(out,
		 "\nMESSAGE_ID=" MESSAGE_ID "\nPRIORITY=%d\nSYSLOG_FACILITY=%d\n"
		 "SYSLOG_IDENTIFIER=uspl\n",
		 priority(event), LOG_FAC(LOG_AUTHPRIV));
	for (size_t i = 0; i < fields->n; i++)
		buf_addf(out, "%s=%s\n", fields->items[i].name, fields->items[i].text);
}

/* Values in quotes, in which quotes and backslashes have a backslash before them. */
static void write_line(struct buf *out, const struct audit_event *event,
		       const struct fields *fields)
{
	buf_addf(out, "<%d>uspl[%d]: ", LOG_AUTHPRIV | priority(event), (int)getpid());
	add_summary(out, event, fields);
	for (size_t i = 0; i < fields->n; i++) {
		buf_addf(out, " %s=\"", fields->items[i].word);
		for (const char *at = fields->items[i].text; *at; at++)
			buf_addf(out, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
		buf_addstr(out, "\"");
	}
}

/* -1, with errno: there is no such log, or it takes nothing. wait: as long as AUDIT_WAIT_MS. */
static int send_to(const char *path, const struct buf *text, bool wait)
{
	const struct timeval most = { 0, AUDIT_WAIT_MS * 1000 };
	auto_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	ssize_t sent;

	if (fd < 0)
		return -1;
	if (len >= sizeof(to.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(to.sun_path, path, len);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	sent = sendto(fd, text->data, text->len, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT),
		      (struct sockaddr *)&to, sizeof(to));
	return sent < 0 ? -1 : 0;
}

/* A machine, or a container, without a log has no socket there, or one that no program serves. */
static bool means_no_log(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ECONNREFUSED;
}

int audit_send(const struct audit_event *event, const struct caller *caller, const char *socket,
	       struct uspl_err *err)
{
	static bool stuck;
	const char *path = socket ? socket : AUDIT_JOURNAL;
	struct fields fields = { .n = 0 };
	auto_buf struct buf text = { 0 };

	if (!strcmp(path, "none"))
		return 0;
	collect(event, caller, &fields);
	write_native(&text, event, &fields);
	if (text.oom)
		return uspl_fail_nomem(err);
	if (send_to(path, &text, !stuck) == 0)
		return 0;
	if (!socket && means_no_log(errno)) {
		text.len = 0;
		write_line(&text, event, &fields);
		if (text.oom)
			return uspl_fail_nomem(err);
		path = AUDIT_SYSLOG;
		if (send_to(path, &text, !stuck) == 0 || means_no_log(errno))
			return 0;
	}
	stuck = true;
	return uspl_fail(err, USPL_E_SYSTEM, "the log '%s' doesn't take what was done: %s", path,
			 errno == EAGAIN ? "it is busy" : strerror(errno));
}
