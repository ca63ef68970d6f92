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
#include "base/text.h"
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

static int add_member(const char *archive, const char *member, bool thin, strvec *inputs,
		      struct uspl_err *err)
{
	auto_free char *path = NULL;
	char *input = NULL;

	/* A thin archive has only names; they are relative to its folder. */
	if (thin && member[0] == '/')
		return add_input(inputs, record_path(member), err);
	path = thin ? text_format("%.*s%s", (int)(file_basename(archive) - archive), archive,
				  member)
		    : record_path(archive);
	if (!path)
		return uspl_fail_nomem(err);
	input = thin ? record_path(path) : text_format("(%s)%s", path, member);
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
