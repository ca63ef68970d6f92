// SPDX-License-Identifier: GPL-3.0-or-later
// seeds.c - writes what the fuzzers begin with: seeds FOLDER makes FOLDER/FUZZER/*

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tests/unit/saved_sample.h"
#include "tests/unit/update_sample.h"
#include "update/gzip.h"
#include "update/manifest.h"
#include "update/parts.h"

/* Writes the bytes as FOLDER/FUZZER/NAME. */
static int write_seed(const char *folder, const char *fuzzer, const char *name,
		      const struct buf *data, struct uspl_err *err)
{
	auto_free char *dir = sample_need(file_join(folder, fuzzer));
	auto_free char *path = sample_need(file_join(dir, name));
	int rc = file_mkdirs(dir, err);

	return rc ? rc : file_write(path, data->data, data->len, err);
}

static int write_seeds(const char *folder, const char *name, struct update *update,
		       struct uspl_err *err)
{
	auto_buf struct buf packed = { 0 }, tar = { 0 }, manifest = { 0 };
	auto_free char *path = sample_need(file_join(folder, "seed.tar.gz"));
	int rc = file_mkdirs(folder, err);

	if (!rc)
		rc = update_write(update, path, err);
	if (!rc)
		rc = file_read(path, &packed, err);
	if (!rc)
		rc = gzip_unpack(packed.data, packed.len, PARTS_MAX_BYTES, &tar, err);
	if (!rc)
		rc = manifest_write(update, &manifest, err);
	if (!rc)
		rc = write_seed(folder, "update_fuzz", name, &tar, err);
	if (!rc)
		rc = write_seed(folder, "manifest_fuzz", name, &manifest, err);
	remove(path);
	return rc;
}

static int write_trace(const char *folder, struct uspl_err *err)
{
	const struct trace_saved saved = sample_saved();
	auto_free char *dir = sample_need(file_join(folder, "saved_fuzz"));
	auto_free char *path = sample_need(file_join(dir, "small"));
	int rc = file_mkdirs(dir, err);

	return rc ? rc : saved_write(path, &saved, err);
}

int main(int argc, char **argv)
{
	auto_update struct update *small = sample_update(), *large = sample_update();
	struct uspl_err err = { 0 };

	if (argc != 2) {
		fprintf(stderr, "usage: seeds FOLDER\n");
		return 2;
	}
	large->targets.items[0].soname = sample_str("libserver.so.1");
	sample_function(&large->targets.items[0], "src/proto.c:fill",
			"inlined callee 'copy' changed");
	if (write_seeds(argv[1], "small", small, &err) ||
	    write_seeds(argv[1], "large", large, &err) || write_trace(argv[1], &err)) {
		uspl_err_print(stderr, "seeds", &err);
		return 3;
	}
	return 0;
}
