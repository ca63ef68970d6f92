// SPDX-License-Identifier: GPL-3.0-or-later
// tarball.c - the parts of an update, read from a gzipped tar

#include "update/tarball.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "update/gzip.h"

/* Headers, padding and the end's zeros come on top of what the parts may have. */
#define TAR_MAX_BYTES (PARTS_MAX_BYTES + (8u << 20))

static void close_reader(struct archive **reader)
{
	archive_read_free(*reader);
}

static int bad_tar(struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_FILE,
			 "it is not a tar archive, or it is damaged or cut short");
}

/* What an entry is, if no update holds its kind. NULL for a file or a folder. */
static const char *odd_kind(struct archive_entry *entry)
{
	if (archive_entry_hardlink(entry))
		return "a hard link";
	switch (archive_entry_filetype(entry)) {
	case AE_IFREG:
		return archive_entry_sparse_count(entry) ? "a file with holes" : NULL;
	case AE_IFDIR:
		return NULL;
	case AE_IFLNK:
		return "a symbolic link";
	default:
		return "neither a file nor a folder";
	}
}

static int read_entry(struct archive *reader, struct archive_entry *entry, struct parts *parts,
		      struct uspl_err *err)
{
	const char *path = archive_entry_pathname(entry), *odd = odd_kind(entry);
	bool folder = archive_entry_filetype(entry) == AE_IFDIR;
	auto_buf struct buf data = { 0 };
	auto_free char *copy = NULL;
	size_t len = path ? strlen(path) : 0;
	char chunk[16384];
	la_ssize_t got;
	int rc;

	if (!len)
		return bad_tar(err);
	/* A folder's name ends in a slash. */
	copy = strndup(path, folder && path[len - 1] == '/' ? len - 1 : len);
	if (!copy)
		return uspl_fail_nomem(err);
	rc = parts_check_name(copy, err);
	if (rc)
		return rc;
	if (odd)
		return uspl_fail(err, USPL_E_HOSTILE, "the entry '%s' is %s", copy, odd);
	if (folder)
		return 0;
	/* Every entry is "FOLDER/NAME" with the same FOLDER. */
	len = strcspn(copy, "/");
	if (!parts->folder) {
		parts->folder = strndup(copy, len);
		if (!parts->folder)
			return uspl_fail_nomem(err);
	}
	if (strncmp(parts->folder, copy, len) != 0 || parts->folder[len] || !copy[len])
		return uspl_fail(
			err, USPL_E_HOSTILE,
			"the entry '%s' lies in no folder, or in another one than the rest", copy);
	/*
	 * The size that the header claims comes first: one that can't be right is refused as such.
	 */
	rc = parts_check_room(parts, (uint64_t)archive_entry_size(entry), err);
	if (rc)
		return rc;
	while ((got = archive_read_data(reader, chunk, sizeof(chunk))) > 0)
		buf_add(&data, chunk, (size_t)got);
	if (got < 0)
		return bad_tar(err);
	return parts_add(parts, copy + len + 1, &data, err);
}

static int read_tar(const void *data, size_t len, struct parts *parts, struct uspl_err *err)
{
	__attribute__((cleanup(close_reader))) struct archive *reader = archive_read_new();
	struct archive_entry *entry;
	size_t entries = 0;
	int status, rc;

	if (!reader)
		return uspl_fail_nomem(err);
	if (archive_read_support_format_tar(reader) != ARCHIVE_OK ||
	    archive_read_open_memory(reader, data, len) != ARCHIVE_OK)
		return bad_tar(err);
	while ((status = archive_read_next_header(reader, &entry)) == ARCHIVE_OK) {
		if (++entries > PARTS_MAX_ENTRIES)
			return uspl_fail(err, USPL_E_HOSTILE, "it has more than %u entries",
					 PARTS_MAX_ENTRIES);
		rc = read_entry(reader, entry, parts, err);
		if (rc)
			return rc;
	}
	return status == ARCHIVE_EOF ? 0 : bad_tar(err);
}

int tarball_read(const void *data, size_t len, struct parts *parts, struct uspl_err *err)
{
	auto_buf struct buf tar = { 0 };
	int rc;

	if (!gzip_is(data, len))
		return read_tar(data, len, parts, err);
	rc = gzip_unpack(data, len, TAR_MAX_BYTES, &tar, err);
	if (rc)
		return rc;
	return read_tar(buf_str(&tar), tar.len, parts, err);
}
