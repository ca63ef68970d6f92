// SPDX-License-Identifier: GPL-3.0-or-later
// arfile.c - members of static archives
//
// "!<arch>\n", then for each member a header of 60 characters and its bytes, padded to an even
// length. Names of up to 15 characters stand in the header and end with '/'; longer ones are
// "/OFFSET" into the member "//" (System V), or "#1/LENGTH" with the name before the bytes (BSD).
// "/" and "/SYM64/" are the index of symbols.

#include "create/build/arfile.h"

#include <string.h>

#include "base/file.h"

struct ar_header {
	char name[16], date[12], uid[6], gid[6], mode[8], size[10], end[2];
};

_Static_assert(sizeof(struct ar_header) == 60, "the header of an archive's member");

/* A decimal number in a field padded with blanks. */
static bool number(const char *field, size_t len, size_t *ret)
{
	size_t value = 0, i = 0;

	for (; i < len && field[i] >= '0' && field[i] <= '9'; i++)
		value = value * 10 + (size_t)(field[i] - '0');
	*ret = value;
	return i > 0 && i <= 10;
}

/* The long names of an archive; each ends with "/\n". */
struct names {
	const char *data;
	size_t len;
};

static char *long_name(const struct names *names, size_t offset)
{
	size_t len = 0;

	if (offset >= names->len)
		return NULL;
	while (offset + len < names->len && names->data[offset + len] != '\n')
		len++;
	if (len && names->data[offset + len - 1] == '/')
		len--;
	return strndup(names->data + offset, len);
}

/* Ends with '/', or, in BSD's form, with the blanks that fill the field. */
static char *short_name(const char *field)
{
	const char *slash = memchr(field, '/', 16);
	size_t len = slash ? (size_t)(slash - field) : 16;

	while (!slash && len && field[len - 1] == ' ')
		len--;
	return strndup(field, len);
}

/*
 * Names a member, and takes a name that stands before its bytes off them. NULL: damaged, or out of
 * memory.
 */
static char *member_name(const struct ar_header *header, const struct names *names,
			 const char **data, size_t *len)
{
	size_t value;
	char *name;

	if (header->name[0] == '/' && number(header->name + 1, 15, &value))
		return long_name(names, value);
	if (strncmp(header->name, "#1/", 3))
		return short_name(header->name);
	if (!number(header->name + 3, 13, &value) || value > *len)
		return NULL;
	name = strndup(*data, value);
	*data += value;
	*len -= value;
	return name;
}

static int add_member(struct arfile *archive, const struct ar_header *header, struct names *names,
		      const char *data, size_t len)
{
	struct arfile_member *member;
	char *name;

	if (!strncmp(header->name, "// ", 3)) {
		*names = (struct names){ data, len };
		return 0;
	}
	if (!strncmp(header->name, "/ ", 2) || !strncmp(header->name, "/SYM64/", 7))
		return 0;
	name = member_name(header, names, &data, &len);
	member = name ? vec_push(&archive->members) : NULL;
	if (!member) {
		free(name);
		return -1;
	}
	*member = (struct arfile_member){ name, data, len };
	return 0;
}

static int parse(struct arfile *archive)
{
	const char *data = archive->bytes.data;
	size_t len = archive->bytes.len, at = 8;
	struct names names = { 0 };

	if (len < 8 || memcmp(data, "!<arch>\n", 8))
		return -1;
	while (at + sizeof(struct ar_header) <= len) {
		const struct ar_header *header = (const void *)(data + at);
		size_t size;

		at += sizeof(*header);
		if (memcmp(header->end, "`\n", 2) ||
		    !number(header->size, sizeof(header->size), &size) || size > len - at ||
		    add_member(archive, header, &names, data + at, size) < 0)
			return -1;
		at += size + (size & 1);
	}
	return 0;
}

int arfile_read(const char *path, struct arfile **ret, struct uspl_err *err)
{
	auto_arfile struct arfile *archive = calloc(1, sizeof(*archive));
	int rc = archive ? file_read(path, &archive->bytes, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	if (parse(archive) < 0)
		return uspl_fail(err, USPL_E_FILE, "'%s' is not a sound archive", path);
	*ret = take_ptr(archive);
	return 0;
}

void arfile_free(struct arfile *archive)
{
	struct arfile_member *member;

	if (!archive)
		return;
	vec_for_each (&archive->members, member)
		free(member->name);
	vec_release(&archive->members);
	buf_release(&archive->bytes);
	free(archive);
}
