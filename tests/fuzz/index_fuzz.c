// SPDX-License-Identifier: GPL-3.0-or-later
// index_fuzz.c - any bytes as the index of a folder: what is accepted comes back the same when it
// is written

#include "update/index.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_index index_entries entries = { 0 }, again = { 0 };
	auto_buf struct buf once = { 0 }, twice = { 0 };
	struct uspl_err err = { 0 };

	if (index_read((const char *)data, size, &entries, &err))
		return 0;
	if (index_write(&entries, &once, &err) || index_read(once.data, once.len, &again, &err) ||
	    index_write(&again, &twice, &err))
		abort();
	if (strcmp(once.data, twice.data))
		abort();
	return 0;
}
