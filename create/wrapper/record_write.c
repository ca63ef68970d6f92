// SPDX-License-Identifier: GPL-3.0-or-later
// record_write.c - what the wrapper tells uspl-create

#include "create/wrapper/record_write.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

void record_field(struct buf *line, const char *text)
{
	if (line->len)
		buf_addstr(line, "\t");
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c == '%' || c == 0x7f)
			buf_addf(line, "%%%02x", c);
		else
			buf_add(line, text, 1);
	}
}

int record_write(const char *work, const char *phase, struct buf *line, struct uspl_err *err)
{
	auto_free char *path = NULL;
	auto_close int fd = -1;
	ssize_t put;

	buf_addstr(line, "\n");
	if (line->oom || asprintf(&path, "%s/record-%s", work, phase) < 0) {
		path = NULL;
		return uspl_fail_nomem(err);
	}
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return uspl_fail_errno(err, "cannot open '%s'", path);
	put = write(fd, line->data, line->len);
	if (put < 0)
		return uspl_fail_errno(err, "cannot write '%s'", path);
	if ((size_t)put != line->len)
		return uspl_fail(err, USPL_E_SYSTEM, "cannot write '%s': the disk is full", path);
	return 0;
}

char *record_path(const char *path)
{
	char *real = realpath(path, NULL);
	auto_free char *copy = NULL;
	auto_free char *folder = NULL;
	char *slash;

	if (real)
		return real;
	copy = strdup(path);
	if (!copy)
		return NULL;
	slash = strrchr(copy, '/');
	if (slash)
		*slash = '\0';
	folder = realpath(!slash ? "." : slash == copy ? "/" : copy, NULL);
	return folder ? file_join(folder, file_basename(path)) : NULL;
}

int record_new_object(const char *work, const char *phase, char **ret_path, struct uspl_err *err)
{
	auto_free char *path = NULL;
	int fd;

	path = text_format("%s/objects/%s/XXXXXX.o", work, phase);
	if (!path)
		return uspl_fail_nomem(err);
	fd = mkostemps(path, 2, O_CLOEXEC);
	if (fd < 0)
		return uspl_fail_errno(err, "cannot create '%s'", path);
	close(fd);
	*ret_path = take_ptr(path);
	return 0;
}
