// SPDX-License-Identifier: GPL-3.0-or-later
// tarball_write.c - the parts of an update, written as a gzipped tar
/*
 * Only uspl-create writes, and the code that writes archives brings most of libarchive's own
 * libraries: it is loaded late. All calls here go to the library that was loaded, never to what the
 * program itself may have of it.
 */

#include <archive.h>
#include <archive_entry.h>

#include "base/clock.h"
#include "base/late.h"
#include "late_names.h"
#include "update/tarball.h"

LATE(archive_entry_free);
LATE(archive_entry_new);
LATE(archive_entry_set_filetype);
LATE(archive_entry_set_mtime);
LATE(archive_entry_set_pathname);
LATE(archive_entry_set_perm);
LATE(archive_entry_set_size);
LATE(archive_error_string);
LATE(archive_write_add_filter_gzip);
LATE(archive_write_close);
LATE(archive_write_data);
LATE(archive_write_free);
LATE(archive_write_header);
LATE(archive_write_new);
LATE(archive_write_open);
LATE(archive_write_set_bytes_in_last_block);
LATE(archive_write_set_filter_option);
LATE(archive_write_set_format_ustar);

static bool has_library(void)
{
	static const struct late_function functions[] = {
		LATE_LINE(archive_entry_free),
		LATE_LINE(archive_entry_new),
		LATE_LINE(archive_entry_set_filetype),
		LATE_LINE(archive_entry_set_mtime),
		LATE_LINE(archive_entry_set_pathname),
		LATE_LINE(archive_entry_set_perm),
		LATE_LINE(archive_entry_set_size),
		LATE_LINE(archive_error_string),
		LATE_LINE(archive_write_add_filter_gzip),
		LATE_LINE(archive_write_close),
		LATE_LINE(archive_write_data),
		LATE_LINE(archive_write_free),
		LATE_LINE(archive_write_header),
		LATE_LINE(archive_write_new),
		LATE_LINE(archive_write_open),
		LATE_LINE(archive_write_set_bytes_in_last_block),
		LATE_LINE(archive_write_set_filter_option),
		LATE_LINE(archive_write_set_format_ustar),
	};

	return late_load(LATE_ARCHIVE, functions, ARRAY_SIZE(functions));
}

static void close_writer(struct archive **writer)
{
	if (*writer)
		late_archive_write_free(*writer);
}

static void free_entry(struct archive_entry **entry)
{
	if (*entry)
		late_archive_entry_free(*entry);
}

static la_ssize_t append(struct archive *writer, void *buf, const void *data, size_t len)
{
	(void)writer;
	buf_add(buf, data, len);
	return ((struct buf *)buf)->oom ? -1 : (la_ssize_t)len;
}

static int write_part(struct archive *writer, const struct parts *parts, const struct part *part,
		      time_t mtime)
{
	__attribute__((cleanup(free_entry))) struct archive_entry *entry = late_archive_entry_new();
	auto_buf struct buf path = { 0 };

	buf_addf(&path, "%s/%s", parts->folder, part->name);
	if (!entry || path.oom)
		return ARCHIVE_FATAL;
	late_archive_entry_set_pathname(entry, path.data);
	late_archive_entry_set_filetype(entry, AE_IFREG);
	late_archive_entry_set_perm(entry, 0644);
	late_archive_entry_set_size(entry, (la_int64_t)part->len);
	late_archive_entry_set_mtime(entry, mtime, 0);
	if (late_archive_write_header(writer, entry) != ARCHIVE_OK)
		return ARCHIVE_FATAL;
	return late_archive_write_data(writer, part->data, part->len) == (la_ssize_t)part->len
		       ? ARCHIVE_OK
		       : ARCHIVE_FATAL;
}

static struct archive *open_writer(struct buf *buf)
{
	struct archive *writer = has_library() ? late_archive_write_new() : NULL;

	if (!writer)
		return NULL;
	/* Without a time in the gzip header the same update gives the same bytes. */
	if (late_archive_write_set_format_ustar(writer) == ARCHIVE_OK &&
	    late_archive_write_add_filter_gzip(writer) == ARCHIVE_OK &&
	    late_archive_write_set_filter_option(writer, "gzip", "timestamp", NULL) == ARCHIVE_OK &&
	    late_archive_write_set_filter_option(writer, "gzip", "compression-level", "9") ==
		    ARCHIVE_OK &&
	    late_archive_write_set_bytes_in_last_block(writer, 1) == ARCHIVE_OK &&
	    late_archive_write_open(writer, buf, NULL, append, NULL) == ARCHIVE_OK)
		return writer;
	late_archive_write_free(writer);
	return NULL;
}

int tarball_write(const struct parts *parts, time_t mtime, struct buf *buf, struct uspl_err *err)
{
	__attribute__((cleanup(close_writer))) struct archive *writer = open_writer(buf);
	const struct part *part;
	int status = ARCHIVE_OK;

	if (!writer)
		return uspl_fail(err, USPL_E_SYSTEM,
				 "cannot begin to write an archive: is '%s' installed?",
				 LATE_ARCHIVE);
	vec_for_each (&parts->items, part)
		if (status == ARCHIVE_OK)
			status = write_part(writer, parts, part, mtime);
	if (status != ARCHIVE_OK || late_archive_write_close(writer) != ARCHIVE_OK)
		return uspl_fail(err, USPL_E_SYSTEM, "cannot write an archive: %s",
				 late_archive_error_string(writer)
					 ? late_archive_error_string(writer)
					 : "out of memory");
	return 0;
}

int tarball_pack(struct parts *parts, const char *id, const char *created, struct buf *buf,
		 struct uspl_err *err)
{
	auto_buf struct buf folder = { 0 };
	int64_t mtime;

	buf_addf(&folder, "uspl-%s", id);
	parts->folder = buf_take(&folder);
	if (!parts->folder)
		return uspl_fail_nomem(err);
	if (!clock_utc_read(created, &mtime))
		return uspl_fail(err, USPL_E_BUG, "an update cannot be created at '%s'", created);
	parts_sort(parts);
	return tarball_write(parts, (time_t)mtime, buf, err);
}
