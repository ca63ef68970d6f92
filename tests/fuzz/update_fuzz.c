// SPDX-License-Identifier: GPL-3.0-or-later
// update_fuzz.c - any bytes as an update file: no crash, no leak, no answer but an update or a
// refusal
/*
 * A plain tar is fed rather than a gzipped one, whose checksum would keep nearly every mutation
 * from what is behind it.
 */
#include "update/update.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_update struct update *update = NULL;
	struct uspl_err err = { 0 };
	int rc = update_read_memory(data, size, &update, &err);

	if (rc ? update || !err.msg[0] || err.code != (enum uspl_code) - rc : !update)
		abort();
	return 0;
}
