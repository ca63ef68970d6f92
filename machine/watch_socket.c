// SPDX-License-Identifier: GPL-3.0-or-later
// watch_socket.c - how other commands ask a watch that runs

#include "machine/watch_socket.h"

#include <errno.h>
#include <json-c/json.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "machine/wanted.h"

static int name_socket(struct sockaddr_un *ret, socklen_t *ret_len, struct uspl_err *err)
{
	int len =
		snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/" WATCH_SOCKET, wanted_folder());

	ret->sun_family = AF_UNIX;
	*ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len + 1);
	if (len < 0 || (size_t)len >= sizeof(ret->sun_path))
		return uspl_fail(err, USPL_E_SYSTEM, "the name '%s/" WATCH_SOCKET "' is too long",
				 wanted_folder());
	return 0;
}

int watch_socket_listen(int *ret_fd, struct uspl_err *err)
{
	struct sockaddr_un name = { 0 };
	auto_close int fd = -1;
	socklen_t len;
	int rc = name_socket(&name, &len, err);

	if (rc)
		return rc;
	unlink(name.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&name, len) < 0 ||
	    chmod(name.sun_path, 0600) < 0 || listen(fd, 16) < 0)
		return uspl_fail_errno(err, "cannot open the socket '%s'", name.sun_path);
	*ret_fd = take_fd(fd);
	return 0;
}

int watch_socket_ask(char **ret, struct uspl_err *err)
{
	struct sockaddr_un name = { 0 };
	auto_buf struct buf text = { 0 };
	auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len;
	int rc = name_socket(&name, &len, err);

	if (rc)
		return rc;
	if (fd < 0)
		return uspl_fail_errno(err, "cannot make a socket");
	if (connect(fd, (const struct sockaddr *)&name, len) < 0) {
		if (errno != ENOENT && errno != ECONNREFUSED)
			return uspl_fail_errno(err, "cannot ask the watch by '%s'", name.sun_path);
		uspl_fail(err, USPL_E_NO_PROCESS, "no watch is at work");
		uspl_hint(err, "'systemctl start uspl-watch', or run 'uspl-watch'");
		return -USPL_E_NO_PROCESS;
	}
	rc = file_read_fd(fd, "the watch's answer", &text, err);
	if (rc)
		return rc;
	*ret = buf_take(&text);
	return *ret ? 0 : uspl_fail_nomem(err);
}

void watch_socket_reasons(watch_reason_vec *ret)
{
	auto_free char *text = NULL;
	struct json_object *answer, *processes = NULL;
	size_t n = 0;

	if (watch_socket_ask(&text, NULL) != 0)
		return;
	answer = json_tokener_parse(text);
	if (answer && json_object_object_get_ex(answer, "processes", &processes) &&
	    json_object_is_type(processes, json_type_array))
		n = json_object_array_length(processes);
	for (size_t i = 0; i < n; i++) {
		struct json_object *process = json_object_array_get_idx(processes, i);
		const char *id = json_object_get_string(json_object_object_get(process, "id"));
		const char *state =
			json_object_get_string(json_object_object_get(process, "state"));
		const char *message =
			json_object_get_string(json_object_object_get(process, "message"));
		struct watch_reason *reason = NULL;

		/* A process that is merely at work, or has all, is listed without an id. */
		if (id && state && message)
			reason = vec_push(ret);
		if (!reason)
			continue;
		/* One that is worked on again had a reason that may pass. */
		*reason = (struct watch_reason){
			.pid = json_object_get_int(json_object_object_get(process, "pid")),
			.id = strdup(id),
			.message = strdup(message),
			.waiting = strcmp(state, "refused") != 0,
		};
		if (reason->id && reason->message)
			continue;
		free(reason->id);
		free(reason->message);
		ret->n--;
	}
	json_object_put(answer);
}

void watch_reasons_release(watch_reason_vec *reasons)
{
	struct watch_reason *reason;

	vec_for_each (reasons, reason) {
		free(reason->id);
		free(reason->message);
	}
	vec_release(reasons);
}
