// SPDX-License-Identifier: GPL-3.0-or-later
// trace.c - what a linker took, by its own words
//
// Which members of an archive end up in a program is known to the linker alone, and so is where
// -lfoo was found. All linkers tell with --trace, a line for each file:
//
//     dir/a.o               an object, or a member of a thin archive (GNU ld)
//     (dir/libx.a)a.o       a member (GNU ld)
//     dir/libx.a(a.o)       a member (gold, lld)
//     dir/libx.a, libc.so   an archive as such, a shared library, a linker script
//     trace: any of these   mold, which names all members of an archive, those included that it
//                           leaves out

#include "create/wrapper/trace.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "create/wrapper/record_write.h"

#define MOLD "trace: "

enum file_kind { FILE_NONE, FILE_OBJECT, FILE_ARCHIVE, FILE_THIN, FILE_OTHER };

static enum file_kind kind_of(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char head[18] = { 0 };

	if (fd < 0)
		return FILE_NONE;
	if (read(fd, head, sizeof(head)) < 8)
		return FILE_OTHER;
	if (!memcmp(head, "!<arch>\n", 8))
		return FILE_ARCHIVE;
	if (!memcmp(head, "!<thin>\n", 8))
		return FILE_THIN;
	if (!memcmp(head, ELFMAG, SELFMAG) && head[16] == ET_REL)
		return FILE_OBJECT;
	return FILE_OTHER;
}

static int add_input(strvec *inputs, char *input, struct uspl_err *err)
{
	return strvec_take(inputs, input) ? 0 : uspl_fail_nomem(err);
}

/* A thin archive has only names; they are relative to its folder. */
static int add_thin(const char *archive, const char *member, strvec *inputs, struct uspl_err *err)
{
	auto_free char *path = NULL;
	int folder = (int)(file_basename(archive) - archive);

	if (member[0] == '/')
		return add_input(inputs, record_path(member), err);
	if (asprintf(&path, "%.*s%s", folder, archive, member) < 0) {
		path = NULL;
		return uspl_fail_nomem(err);
	}
	return add_input(inputs, record_path(path), err);
}

static int add_member(const char *archive, const char *member, bool thin, strvec *inputs,
		      struct uspl_err *err)
{
	auto_free char *path = NULL;
	char *input = NULL;

	if (thin)
		return add_thin(archive, member, inputs, err);
	path = record_path(archive);
	if (!path || asprintf(&input, "(%s)%s", path, member) < 0)
		return uspl_fail_nomem(err);
	return add_input(inputs, input, err);
}

/*
 * Both forms of an archive's member: "(A)M" and "A(M)". The archive is checked, for file names have
 * parentheses too.
 */
static int parse_member(char *line, strvec *inputs, bool *ret_found, struct uspl_err *err)
{
	size_t len = strlen(line);
	char *archive, *member;
	enum file_kind kind;

	*ret_found = false;
	if (line[0] == '(') {
		archive = line + 1;
		member = strrchr(line, ')');
		if (!member)
			return 0;
		*member++ = '\0';
	} else if (len && line[len - 1] == ')') {
		archive = line;
		member = strrchr(line, '(');
		if (!member)
			return 0;
		line[len - 1] = '\0';
		*member++ = '\0';
	} else {
		return 0;
	}
	kind = kind_of(archive);
	*ret_found = *member && (kind == FILE_ARCHIVE || kind == FILE_THIN);
	return *ret_found ? add_member(archive, member, kind == FILE_THIN, inputs, err) : 0;
}

static int parse_line(const char *said, strvec *inputs, struct buf *rest, struct uspl_err *err)
{
	const char *line = strncmp(said, MOLD, strlen(MOLD)) ? said : said + strlen(MOLD);
	enum file_kind kind = *line ? kind_of(line) : FILE_NONE;
	auto_free char *copy = NULL;
	bool found;
	int rc;

	if (kind == FILE_OBJECT)
		return add_input(inputs, record_path(line), err);
	if (kind != FILE_NONE)
		return 0;
	copy = strdup(line);
	if (!copy)
		return uspl_fail_nomem(err);
	rc = parse_member(copy, inputs, &found, err);
	if (rc)
		return rc;
	if (!found)
		buf_addf(rest, "%s\n", said);
	return 0;
}

int trace_parse(const char *text, strvec *inputs, struct buf *rest, struct uspl_err *err)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		auto_free char *line = strndup(text, len);
		int rc = line ? parse_line(line, inputs, rest, err) : uspl_fail_nomem(err);

		if (rc)
			return rc;
		text += len + (text[len] == '\n');
	}
	return rest->oom ? uspl_fail_nomem(err) : 0;
}
