// SPDX-License-Identifier: GPL-3.0-or-later
// manifest_fuzz.c - any bytes as a manifest: what is accepted comes back the same when it is
// written

#include "update/manifest.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_update struct update *update = NULL, *again = NULL;
	auto_buf struct buf once = { 0 }, twice = { 0 };
	struct uspl_err err = { 0 };

	if (manifest_read((const char *)data, size, &update, &err))
		return 0;
	if (manifest_write(update, &once, &err) ||
	    manifest_read(once.data, once.len, &again, &err) || manifest_write(again, &twice, &err))
		abort();
	if (strcmp(once.data, twice.data))
		abort();
	return 0;
}
