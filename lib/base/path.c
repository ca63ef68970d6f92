// SPDX-License-Identifier: GPL-3.0-or-later
// path.c - paths in a text: a command line, a file that configure wrote; the place of our own files

#include "base/path.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* What stands around a path, or between two. */
static const char around[] = "=:,;\"' \t\n";

/*
 * True if the name at hit, len long, is the start of a path and names a whole folder: neither
 * /mnt/FROM nor FROM2.
 */
static bool is_whole_path(const char *text, const char *hit, size_t len)
{
	if (hit[len] && hit[len] != '/' && !strchr(around, hit[len]))
		return false;
	while (hit > text && !strchr(around, hit[-1]))
		if (*--hit == '/')
			return false;
	return true;
}

void path_rename(struct buf *out, const char *text, const char *from, const char *to)
{
	const char *rest = text, *hit;
	size_t len = from ? strlen(from) : 0;

	while (len && (hit = strstr(rest, from)) != NULL) {
		bool in_copy = !strncmp(hit, to, strlen(to));

		if (in_copy || !is_whole_path(text, hit, len)) {
			size_t skip = (size_t)(hit - rest) + (in_copy ? strlen(to) : len);

			buf_add(out, rest, skip);
			rest += skip;
			continue;
		}
		buf_add(out, rest, (size_t)(hit - rest));
		buf_addstr(out, to);
		rest = hit + len;
	}
	buf_addstr(out, rest);
}

int path_beside_program(const char *name, char **ret, struct uspl_err *err)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *path;

	if (len < 0)
		return uspl_fail_errno(err, "cannot read '/proc/self/exe'");
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	if (asprintf(&path, "%s/%s", self, name) < 0)
		return uspl_fail_nomem(err);
	*ret = path;
	return 0;
}
