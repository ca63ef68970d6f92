// SPDX-License-Identifier: GPL-3.0-or-later
// libarchive.c - writes archives to memory and to a file, and reads them

#include "drive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdbool.h>

#include "fence.h"

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

/* Opens `reference`, the file of the fix's own test. */
static struct archive *open_reference(void)
{
	struct archive *archive = archive_read_new();

	archive_read_support_format_all(archive);
	archive_read_support_filter_all(archive);
	return archive_read_open_filename(archive, "reference", 10240) == ARCHIVE_OK ? archive
										     : NULL;
}

/*
 * Reads it with all data: the last status. What needs more than three seconds of a processor
 * doesn't end, and is ended.
 */
static int read_reference(void)
{
	const struct rlimit seconds = { 3, 3 };
	struct archive *archive = open_reference();
	struct archive_entry *entry;
	const void *block;
	size_t len;
	la_int64_t at;
	int status;

	setrlimit(RLIMIT_CPU, &seconds);
	while ((status = archive_read_next_header(archive, &entry)) == ARCHIVE_OK) {
		while ((status = archive_read_data_block(archive, &block, &len, &at)) == ARCHIVE_OK)
			;
		if (status == ARCHIVE_FATAL)
			break;
	}
	return status;
}

/* A filter's block that is longer than the dictionary that it is of. */
static const char *long_block(void)
{
	fence_begin();
	return read_reference() == ARCHIVE_FATAL ? "new" : "";
}

static long long largest_member(void)
{
	struct archive *archive = open_reference();
	struct archive_entry *entry;
	long long largest = 0;

	while (archive_read_next_header(archive, &entry) == ARCHIVE_OK)
		if (archive_entry_size(entry) > largest)
			largest = archive_entry_size(entry);
	return largest;
}

/* How many characters of a folder's long name are in the header that all readers understand? */
static const char *short_name(void)
{
	static char path[122];
	struct archive *archive = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	size_t used = 0, at;

	memset(path, 's', 120);
	path[120] = '/';
	archive_write_set_format_pax(archive);
	archive_write_add_filter_none(archive);
	archive_write_open_memory(archive, room, sizeof(room), &used);
	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, AE_IFDIR);
	archive_entry_set_perm(entry, 0755);
	archive_write_header(archive, entry);
	archive_write_close(archive);
	for (at = 0; at + 512 <= used; at += 512)
		if (room[at + 156] == '5' && room[at] == 's') {
			used = strnlen(room + at, 100);
			return used == 98 ? "new" : used == 99 ? "old" : "";
		}
	return "";
}

/* A member that is so long that its encryption has no room behind it. */
static const char *encrypted(void)
{
	struct archive *archive = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	size_t used = 0;

	archive_write_set_format_zip(archive);
	archive_write_zip_set_compression_store(archive);
	if (archive_write_set_options(archive, "zip:encryption=zipcrypt") != ARCHIVE_OK ||
	    archive_write_set_passphrase(archive, "secret") != ARCHIVE_OK ||
	    archive_write_open_memory(archive, room, sizeof(room), &used) != ARCHIVE_OK)
		return "";
	archive_entry_set_pathname(entry, "long");
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_size(entry, INT64_MAX - 5);
	return archive_write_header(archive, entry) == ARCHIVE_FAILED ? "new" : "old";
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
	if (!strcmp(fix, "CVE-2025-5917.patch"))
		return short_name();
	if (!strcmp(fix, "CVE-2026-4111-2.patch"))
		return read_reference() < ARCHIVE_OK ? "new" : "";
	if (!strcmp(fix, "CVE-2025-5915.patch"))
		return long_block();
	if (!strcmp(fix, "CVE-2026-4426_CVE-2026-5121.patch"))
		return largest_member() < 1024 * 1024 ? "new" : "old";
	if (!strcmp(fix, "CVE-2026-16517.patch"))
		return encrypted();
	if (strcmp(fix, "CVE-2025-5916.patch") != 0)
		return "";
	archive_read_support_format_warc(archive);
	archive_read_open_memory(archive, warc, sizeof(warc) - 1);
	return archive_read_next_header(archive, &entry) == ARCHIVE_FATAL ? "new" : "old";
}
