// SPDX-License-Identifier: GPL-3.0-or-later
// libarchive.c - writes archives to memory and to a file, and reads them

#include "drive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>

static char room[262144];

/* An archive in a file, with two large members. */
static void pack_file(const char *path)
{
	static const char data[262144];
	struct archive *archive = archive_write_new();
	struct archive_entry *entry = archive_entry_new();

	archive_write_set_format_ustar(archive);
	archive_write_open_filename(archive, path);
	for (int i = 0; i < 2; i++) {
		archive_entry_set_pathname(entry, i ? "second" : "first");
		archive_entry_set_size(entry, sizeof(data));
		archive_entry_set_filetype(entry, AE_IFREG);
		archive_entry_set_perm(entry, 0644);
		archive_write_header(archive, entry);
		archive_write_data(archive, data, sizeof(data));
	}
	archive_entry_free(entry);
	archive_write_free(archive);
}

/* Reads the headers alone: members are skipped. The last status. */
static int skim(struct archive *archive, unsigned long *ret_headers)
{
	struct archive_entry *entry;
	int status;

	*ret_headers = 0;
	while ((status = archive_read_next_header(archive, &entry)) == ARCHIVE_OK)
		++*ret_headers;
	return status;
}

static unsigned long skim_file(void)
{
	static const char path[] = "load.tar";
	unsigned long headers[2];
	struct archive *archive;
	int fd;

	if (access(path, R_OK) < 0)
		pack_file(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < 2; i++) {
		archive = archive_read_new();
		archive_read_support_format_tar(archive);
		if (i)
			archive_read_open_fd(archive, fd, 10240);
		else
			archive_read_open_filename(archive, path, 10240);
		skim(archive, &headers[i]);
		archive_read_free(archive);
	}
	close(fd);
	return headers[0] + 10 * headers[1];
}

static size_t pack(int (*format)(struct archive *))
{
	static const char text[] = "some text, some text, some text";
	struct archive *archive = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	size_t used = 0;

	format(archive);
	archive_write_add_filter_none(archive);
	archive_write_open_memory(archive, room, sizeof(room), &used);
	archive_entry_set_pathname(entry, "folder/file");
	archive_entry_set_size(entry, sizeof(text));
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_mtime(entry, 1000000, 0);
	archive_write_header(archive, entry);
	archive_write_data(archive, text, sizeof(text));
	archive_entry_free(entry);
	archive_write_close(archive);
	archive_write_free(archive);
	return used;
}

static unsigned long unpack(size_t len)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	unsigned long sum = 0;
	char data[4096];
	long n;

	archive_read_support_format_all(archive);
	archive_read_support_filter_all(archive);
	archive_read_open_memory(archive, room, len);
	while (archive_read_next_header(archive, &entry) == ARCHIVE_OK) {
		sum = digest(sum, archive_entry_pathname(entry),
			     strlen(archive_entry_pathname(entry)));
		while ((n = archive_read_data(archive, data, sizeof(data))) > 0)
			sum = digest(sum, data, (size_t)n);
	}
	archive_read_free(archive);
	return sum;
}

unsigned long work(void)
{
	unsigned long sum = unpack(pack(archive_write_set_format_pax));

	sum += 3 * unpack(pack(archive_write_set_format_zip));
	sum += 5 * unpack(pack(archive_write_set_format_iso9660));
	sum += 7 * unpack(pack(archive_write_set_format_7zip));
	return sum + 11 * skim_file();
}

/* A member that the file ends in: is that the archive's end? */
static const char *cut_off(void)
{
	struct archive *archive = archive_read_new();
	unsigned long headers;

	pack_file("cut.tar");
	archive_read_support_format_tar(archive);
	if (truncate("cut.tar", 100000) < 0 ||
	    archive_read_open_filename(archive, "cut.tar", 10240) != ARCHIVE_OK)
		return "";
	return skim(archive, &headers) == ARCHIVE_FATAL ? "new" : "old";
}

const char *probe(const char *fix)
{
	static const char warc[] = "WARC/1.0\r\nWARC-Type: conversion\r\n"
				   "WARC-Date: 2025-03-30T15:00:40Z\r\n"
				   "Content-Length: 9223372036854775807\r\n\r\nWARC/1.0\r\n";
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;

	if (!strcmp(fix, "CVE-2025-5918_1.patch"))
		return cut_off();
	if (strcmp(fix, "CVE-2025-5916.patch") != 0)
		return "";
	archive_read_support_format_warc(archive);
	archive_read_open_memory(archive, warc, sizeof(warc) - 1);
	return archive_read_next_header(archive, &entry) == ARCHIVE_FATAL ? "new" : "old";
}
